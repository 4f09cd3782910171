/// Which way up a picture is, as its file says, and turning it. Internal to formats/.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "treadle/formats/image.h"

namespace treadle {

/// What a file may say of a picture's orientation. The values are EXIF's: 1 is upright, 2 mirrored, 3 upside
/// down, 4 both, 5 to 8 the same with rows and columns exchanged.
struct OrientationSources {
  std::string exif;  ///< a TIFF structure; "Exif\0\0" may stand before it
  std::string xmp;   ///< read when `exif` says nothing
};

/// The tag Orientation of the first directory. A structure that is damaged before the tag says nothing.
std::optional<int> exif_orientation(std::string_view exif);

/// `tiff:Orientation` as an attribute or an element.
std::optional<int> xmp_orientation(std::string_view xmp);

/// The text of a PNG's "Raw profile type exif": three lines, then hexadecimal digits. Empty when it is no
/// such thing.
std::string bytes_of_raw_profile(std::string_view text);

/// The picture turned upright; as it is for a value that means nothing.
Image turned_upright(Image image, const OrientationSources& sources);

}  // namespace treadle

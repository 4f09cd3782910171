#include "treadle/data/sha256.h"

#include "tests/formats/temporary_folder.h"

namespace treadle {
namespace {

/// The examples of FIPS 180-4.
TEST(Sha256, PublishedDigests) {
  EXPECT_EQ(sha256_of({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of(bytes_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(bytes_of(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// Every length around a block, in pieces of every size.
TEST(Sha256, PiecesAreAsGoodAsTheWhole) {
  for (size_t length = 50; length < 130; ++length) {
    const std::string text(length, 'x');
    for (size_t piece : {1, 7, 63, 64, 65}) {
      Sha256 sum;
      for (size_t i = 0; i < length; i += piece)
        sum.add(bytes_of(text).subspan(i, std::min(piece, length - i)));
      EXPECT_EQ(sum.digest(), sha256_of(bytes_of(text))) << length << " " << piece;
    }
  }
}

}  // namespace
}  // namespace treadle

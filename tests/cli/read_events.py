"""Prints as JSON what TensorBoard's own reader finds in a folder. Needs the package tensorboard.

usage: read_events.py FOLDER
"""

import io
import json
import sys

from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

ALL = dict.fromkeys(("scalars", "images", "histograms", "tensors"), 0)


def size_of(image):
    return Image.open(io.BytesIO(image.encoded_image_string)).size == (image.width, image.height) and [image.width, image.height]


def value_of(value):
    return getattr(value, value.WhichOneof("kind"))


events = EventAccumulator(sys.argv[1], size_guidance=ALL)
events.Reload()
hparams = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
print(
    json.dumps(
        {
            "scalars": {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]},
            "histograms": {
                tag: [(event.step, event.histogram_value.num, sum(event.histogram_value.bucket)) for event in events.Histograms(tag)]
                for tag in events.Tags()["histograms"]
            },
            "images": {tag: [size_of(image) for image in events.Images(tag)] for tag in events.Tags()["images"]},
            "hparams": {name: value_of(value) for name, value in HParamsPluginData.FromString(hparams).session_start_info.hparams.items()},
        }
    )
)

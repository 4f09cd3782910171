"""Data sets by name, of arrays and of folders, and batches of them."""

import inspect
import struct
import zlib

import numpy as np
import pytest
import treadle as td


def images(count=20, classes=4):
    pixels = np.random.default_rng(0).integers(0, 256, (count, 6, 5), dtype=np.uint8)
    return td.data.dataset(pixels, np.arange(count) % classes), pixels


def write_png(path, value):
    """A grey image of 4×4 equal pixels."""

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes([value] * 4)) * 4)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def test_known_sets():
    known = {one.name: one for one in td.data.known_datasets()}
    assert {"fashion-mnist", "mnist", "cifar-10", "spirals"} <= known.keys()
    assert known["spirals"].made and known["spirals"].found is None
    assert known["fashion-mnist"].classes[1] == "Trouser" and known["fashion-mnist"].places and known["mnist"].how_to_get
    assert known["mnist"].description and repr(known["mnist"]) == "KnownDataset(mnist)"


def test_parts_of_a_set():
    splits = td.data.load("spirals:3", seed=1)
    assert splits.validation is None and len(splits.train.classes) == 3 and splits.train.shape == (2,)
    assert not splits.train.is_images and splits.train.examples.dtype == td.float32
    train, test = td.data.load("spirals:3", train=True, seed=1), td.data.load("spirals:3", train=False, seed=1)
    assert (len(train), len(test)) == (len(splits.train), len(splits.test))
    assert train.name == "spirals" and "training" in repr(splits)
    assert splits.fingerprint() != td.data.load("spirals:3", seed=2).fingerprint()
    count = len(splits.train)
    assert splits.hold_out(0.25, seed=0) is splits
    assert len(splits.validation) == pytest.approx(count / 4, abs=1) and len(splits.train) + len(splits.validation) == count


def test_names_that_are_not_there():
    with pytest.raises(td.ValueError, match="fashion-mnist"):
        td.data.load("fashion-mnits")
    with pytest.raises(td.ValueError, match="spirals"):
        td.data.download("spirals")


def test_what_is_nowhere(monkeypatch, tmp_path):
    monkeypatch.setenv("TREADLE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(td.DatasetAbsent, match="kmnist"):
        td.data.load("kmnist")
    with pytest.raises(td.DatasetAbsent):  # from a mirror that has nothing
        td.data.download("kmnist", folder=tmp_path / "here", mirrors=["http://127.0.0.1:9/"], patience=1)


def test_a_folder_of_images(tmp_path):
    for name, value in [("dark", 0), ("light", 255)]:
        (tmp_path / name).mkdir()
        for number in range(5):
            write_png(tmp_path / name / f"{number}.png", value)
    train = td.data.load(tmp_path, train=True, size=3, channels=3)
    assert train.classes == ["dark", "light"] and train.shape == (3, 3, 3) and len(train) == 8
    x, label = train[0]
    assert x.mean().item() == label


def test_arrays_become_sets():
    data, pixels = images()
    assert len(data) == 20 and data.shape == (1, 6, 5) and data.is_images and data.classes == ["0", "1", "2", "3"]
    x, label = data[3]
    np.testing.assert_allclose(x.numpy()[0], pixels[3] / 255, rtol=1e-6)
    assert label == 3 and x.dtype == td.float32
    np.testing.assert_array_equal(data[-1][0].numpy(), data[19][0].numpy())
    with pytest.raises(IndexError, match="20"):
        data[20]
    assert data.labels.tolist() == [i % 4 for i in range(20)] and data.examples.shape == (20, 1, 6, 5)
    assert td.data.dataset(np.zeros((2, 5, 6, 3), np.uint8), [0, 1]).shape == (3, 5, 6)
    numbers = td.data.dataset(td.tensor([[1.0, 2.0], [3.0, 4.0]]), td.tensor([0, 1]), classes=["no", "yes"], name="mine")
    assert numbers[1][0].tolist() == [3, 4] and numbers.classes == ["no", "yes"] and "mine" in repr(numbers)
    with pytest.raises(td.ShapeError, match="labels"):
        td.data.dataset(np.zeros((3, 2)), [0, 1])
    with pytest.raises(td.ValueError, match="label 2"):
        td.data.dataset(np.zeros((1, 2)), [2], classes=["a"])
    with pytest.raises(TypeError, match="float64"):
        td.data.dataset(np.zeros((1, 2)), [0.5])


def test_the_sets_memory_outlives_it():
    examples = td.data.load("moons", train=True).examples
    assert np.isfinite(examples.numpy()).all()


def test_an_epoch_has_every_example_once():
    data, _ = images()
    loader = td.data.Loader(data, batch_size=8, seed=1)
    assert len(loader) == 3
    first, second = ([labels.tolist() for _, labels in loader] for _ in range(2))
    assert [len(batch) for batch in first] == [8, 8, 4] and sorted(sum(first, [])) == sorted(sum(second, []))
    assert first != second


def test_the_order_follows_from_the_seed_alone():
    data, _ = images()

    def epochs(**options):
        loader = td.data.Loader(data, batch_size=6, augment="flip", **options)
        return [[x.numpy().tolist() for x, _ in loader] for _ in range(2)]

    assert epochs(seed=1) == epochs(seed=1, threads=0) == epochs(seed=1, threads=2, ahead=1) != epochs(seed=2)
    loader = td.data.Loader(data, batch_size=6, seed=1, augment="flip")
    next(iter(loader))  # an epoch that is left early
    assert [x.numpy().tolist() for x, _ in loader] == epochs(seed=1)[1]


def test_batches_in_order():
    data, pixels = images()
    loader = td.data.DataLoader(data, batch_size=6, shuffle=False, drop_last=True)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    x, labels = batches[1]
    np.testing.assert_allclose(x.numpy()[:, 0], pixels[6:12] / 255, rtol=1e-6)
    assert labels.tolist() == [i % 4 for i in range(6, 12)] and labels.dtype == td.int64


def test_batches_are_normalised():
    data, _ = images()
    mean, deviation = td.data.measure_normalization(data)
    x, _ = next(iter(td.data.Loader(data, batch_size=20, normalization=(mean, deviation))))
    assert x.mean().item() == pytest.approx(0, abs=1e-5) and x.numpy().std() == pytest.approx(1, rel=1e-5)


def test_augmentations_are_those_of_the_library():
    data, _ = images()
    kinds = [getattr(td.data.augment, name) for name in td.data.augment.__all__[1:]]
    assert {kind.__name__ for kind in kinds} >= {"Crop", "Flip", "Mixup", "Cutout"}
    assert all(isinstance(kind(), td.data.augment.Augmentation) for kind in kinds)
    assert inspect.signature(td.data.augment.Crop).parameters["padding"].default == 4
    listed = [td.data.augment.Flip(probability=1.0), td.data.augment.Crop(padding=1)]
    assert repr(listed[0]) == "Flip(probability=1.0)"
    one, other = (
        [x.numpy().tolist() for x, _ in td.data.Loader(data, seed=3, augment=augment)]
        for augment in (listed, "flip:1,crop:padding=1")
    )
    assert one == other
    assert str(td.data.augment.Crop(padding=2, fill=0.5)) == "crop:padding=2:fill=0.5"
    with pytest.raises(td.ValueError, match="probability of 2"):
        td.data.augment.Flip(probability=2.0)
    with pytest.raises(td.ValueError, match="flop"):
        next(iter(td.data.Loader(data, augment="flop")))


def test_mixed_labels_are_probabilities():
    data, _ = images()
    _, targets = next(iter(td.data.Loader(data, batch_size=5, augment=td.data.augment.Mixup())))
    assert targets.shape == (5, 4) and targets.dtype == td.float32
    np.testing.assert_allclose(targets.numpy().sum(1), 1, rtol=1e-6)


class Squares(td.data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return np.float32([index, index]), float(index * index)


@pytest.mark.parametrize("threads", [None, 2])
def test_datasets_of_python(threads):
    loader = td.data.Loader(Squares(), batch_size=4, seed=2, threads=threads, ahead=2)
    batches = list(loader)
    assert [x.shape for x, _ in batches] == [(4, 2), (4, 2), (2, 2)]
    x, y = (np.concatenate([batch[i].numpy() for batch in batches]) for i in range(2))
    np.testing.assert_array_equal(x[:, 0] ** 2, y)
    assert sorted(x[:, 0]) == list(range(10)) and y.dtype == np.float32
    data, _ = images(10)
    order = [int(value) for value in x[:, 0]]
    assert [label for label in order] == _order_of_the_library(10, 4, 2)
    with pytest.raises(TypeError, match="ImageDataset"):
        td.data.Loader(Squares(), augment="flip")


def _order_of_the_library(count, batch_size, seed):
    data = td.data.dataset(np.arange(count, dtype="f")[:, None], [0] * count)
    return [int(value) for x, _ in td.data.Loader(data, batch_size=batch_size, seed=seed) for value in x.numpy()[:, 0]]


def test_exceptions_of_datasets_reach_the_caller():
    class Broken(Squares):
        def __getitem__(self, index):
            raise LookupError(f"example {index} is lost")

    for threads in (None, 2):
        with pytest.raises(LookupError, match="is lost"):
            list(td.data.Loader(Broken(), threads=threads))
    with pytest.raises(NotImplementedError, match="Dataset has no __len__"):
        len(td.data.Dataset())
    with pytest.raises(NotImplementedError, match="__getitem__"):
        td.data.Dataset()[0]


def test_examples_of_one_batch_have_one_shape():
    with pytest.raises(td.ShapeError, match=r"\(2,\) and \(3,\)"):
        td.data.collate([np.zeros(2), np.zeros(3)])
    one, two = td.data.collate([(td.tensor([1.0]), 3), (td.tensor([2.0]), 4)])
    assert one.shape == (2, 1) and two.tolist() == [3, 4] and two.dtype == td.int64
    (half,) = td.data.collate([td.tensor([1.5], dtype=td.bfloat16)] * 2)
    assert half.tolist() == [[1.5], [1.5]] and half.dtype == td.float32


def test_rows_of_tensors():
    rows = td.data.TensorDataset(np.arange(6, dtype="f").reshape(3, 2), td.tensor([0, 1, 2]))
    assert len(rows) == 3 and rows[1][0].tolist() == [2, 3] and rows[1][1].item() == 1
    with pytest.raises(td.ShapeError, match="rows"):
        td.data.TensorDataset(td.tensor([1.0]), td.tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="one at least"):
        td.data.Loader(rows, batch_size=0)

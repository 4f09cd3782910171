"""States in files, and exchanged with PyTorch."""

import sys

import numpy as np
import pytest
import treadle as td

DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool"]


def state():
    return {name: td.tensor([[0.0, 1.0], [1.0, 0.0]]).to(name) for name in DTYPES}


def same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype, name
        np.testing.assert_array_equal(one[name].to("float32").numpy(), other[name].to("float32").numpy())


def test_safetensors_go_there_and_back(tmp_path):
    path = tmp_path / "state.safetensors"
    td.save(path, state(), metadata={"about": "a test"})
    same(td.load(path), state())
    model = td.nn.Linear(2, 1)
    td.save(str(path), model)
    same(td.load(path), model.state_dict())


def test_safetensors_are_those_of_others(tmp_path):
    theirs = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "state.safetensors"
    numbers = {"a": np.arange(3, dtype="f"), "b": np.ones((2, 2), "i8")}
    theirs.save_file(numbers, path)
    assert td.load(path)["b"].tolist() == [[1, 1], [1, 1]]
    td.save(path, td.load(path))
    np.testing.assert_array_equal(theirs.load_file(path)["a"], numbers["a"])


def test_a_checkpoint_gives_its_parameters(tmp_path):
    model = td.models.make("perceptron", input=(2,), classes=2)
    td.train.fit(model, "moons", epochs=1, out=tmp_path / "run", verbose=False)
    same(td.load(tmp_path / "run" / "last.safetensors"), model.state_dict())


def test_what_cannot_be_saved_or_read(tmp_path):
    with pytest.raises(TypeError, match="the path comes first"):
        td.save({"x": td.tensor([1.0])}, tmp_path / "x.safetensors")
    with pytest.raises(TypeError, match="'x' is a float"):
        td.save(tmp_path / "x.safetensors", {"x": 1.0})
    with pytest.raises(td.FileError):
        td.load(tmp_path / "absent.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"12345678901234567890")
    with pytest.raises(td.FormatError):
        td.load(tmp_path / "bad.safetensors")


def test_pt_without_pytorch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for call in (lambda: td.save(tmp_path / "x.pt", state()), lambda: td.load(tmp_path / "x.pt")):
        with pytest.raises(ImportError, match="safetensors"):
            call()


def test_pytorchs_files_and_tensors(tmp_path):
    torch = pytest.importorskip("torch")
    td.save(tmp_path / "state.pt", state())
    same(td.load(tmp_path / "state.pt"), state())
    assert torch.load(tmp_path / "state.pt")["bfloat16"].dtype == torch.bfloat16
    torch.save({"epoch": 3, "model": {"w": torch.ones(2, 3).t()}, "list": [torch.zeros(1)]}, tmp_path / "nested.pth")
    found = td.load(tmp_path / "nested.pth")
    assert found["epoch"] == 3 and found["model"]["w"].shape == (3, 2) and found["list"][0].tolist() == [0]
    with pytest.raises(td.FileError):
        td.load(tmp_path / "absent.pt")
    assert td.to_torch([td.tensor([1.0]), 2]) == [torch.ones(1), 2] and td.from_torch("text") == "text"
    source = torch.ones(2, requires_grad=True)
    copy = td.from_torch(source)
    copy.copy_(td.tensor([5.0, 5.0]))
    assert source.tolist() == [1, 1]


def test_states_go_to_pytorchs_modules_and_back():
    torch = pytest.importorskip("torch")
    ours = td.nn.Sequential(td.nn.Conv2d(1, 2, kernel_size=3), td.nn.BatchNorm2d(2), td.nn.Flatten(), td.nn.Linear(8, 3))
    theirs = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3)
    )
    x = np.random.default_rng(0).normal(size=(2, 1, 4, 4)).astype("f")
    ours.load_state_dict(td.from_torch(theirs.state_dict()))
    ours.eval(), theirs.eval()
    expected = theirs(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(ours(td.from_numpy(x)).detach().numpy(), expected, atol=1e-5)
    fresh = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3))
    fresh.load_state_dict(td.to_torch(ours.state_dict()))
    np.testing.assert_array_equal(fresh.eval()(torch.from_numpy(x)).detach().numpy(), expected)

"""Trains a network on Fashion-MNIST in a loop of one's own. The environment variable IMAGES says how many images make an epoch."""

# %% Data: 60,000 grey images of 28×28 pixels of clothes, in ten classes.
import itertools
import os
import pathlib

import treadle as td

IMAGES, BATCH, EPOCHS = int(os.environ.get("IMAGES", "60000")), 50, 2

train = td.data.load("fashion-mnist", train=True)
test = td.data.load("fashion-mnist", train=False)
print(train)
print(", ".join(train.classes))

# %% A picture of one, in characters.
image = train.examples[0, 0].numpy()
for row in image[::2]:
    print("".join(" .:-=+*#%@"[int(pixel) * 10 // 256] for pixel in row))
print("which is:", train.classes[int(train.labels[0])])


# %% The network: 896,522 parameters.
class FashionCNN(td.nn.Module):
    """Two convolutions with max-pooling, two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = td.nn.Conv2d(1, 64, kernel_size=3)
        self.conv2 = td.nn.Conv2d(64, 128, kernel_size=3)
        self.fc1 = td.nn.Linear(128 * 5 * 5, 256)
        self.fc2 = td.nn.Linear(256, 10)

    def forward(self, x: td.Tensor) -> td.Tensor:
        """Logits [N, 10] of images [N, 1, 28, 28]."""
        x = td.relu(td.max_pool2d(self.conv1(x), 2))
        x = td.relu(td.max_pool2d(self.conv2(x), 2))
        logits: td.Tensor = self.fc2(td.relu(self.fc1(x.flatten(1))))
        return logits


td.manual_seed(0)
model = FashionCNN()
print(f"{model.parameter_count():,} parameters")
optimizer = td.optim.Adam(model.parameters(), lr=1e-3)


# %% Compiled, a step runs fused layers and no Python; the figures are those of the plain function.
@td.compile
def step(images: td.Tensor, labels: td.Tensor) -> td.Tensor:
    """One step of the optimizer; the loss before it."""
    optimizer.zero_grad()
    loss = td.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss


@td.compile
def classify(images: td.Tensor) -> td.Tensor:
    """The most probable class of each image, int64 [N]."""
    return td.argmax(model(images), 1)


# %% Training.
loader = td.data.Loader(train, batch_size=BATCH, seed=0)
for epoch in range(1, EPOCHS + 1):
    losses = [step(images, labels).item() for images, labels in itertools.islice(loader, max(1, IMAGES // BATCH))]
    print(f"epoch {epoch}  loss {sum(losses) / len(losses):.3f}")

# %% How good is it on images that it has not seen, and what does it confuse?
model.eval()
pairs: dict[tuple[str, str], int] = {}
right = count = 0
with td.no_grad():
    for images, labels in itertools.islice(td.data.Loader(test, batch_size=500, shuffle=False), max(1, IMAGES // 500)):
        for found, label in zip(classify(images).tolist(), labels.tolist()):
            right, count = right + (found == label), count + 1
            if found != label:
                pair = (test.classes[label], test.classes[found])
                pairs[pair] = pairs.get(pair, 0) + 1
print(f"accuracy on {count} test images: {100 * right / count:.1f} %")
for (label, found), times in sorted(pairs.items(), key=lambda one: -one[1])[:3]:
    print(f"  {label} taken for {found}: {times} times")

# %% Weights are kept in a file that PyTorch's safetensors reads, too.
path = pathlib.Path("fashion_cnn.safetensors")
td.save(path, model)
again = FashionCNN()
again.load_state_dict(td.load(path))
print("wrote", path, "of", path.stat().st_size // 1024, "KiB")

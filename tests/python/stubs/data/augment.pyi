# Generated from the package: the public names, and where they come from.



from typing import Any
from typing import overload

class Augmentation:
    kind: str = ''

    def __str__(self) -> str: ...
    def __repr__(self) -> str: ...

class Affine(Augmentation):
    kind: str = 'affine'

    def __init__(self, degrees: float=10.0, shift: float=0.1, scale: float=0.1, shear: float=0.0, fill: float=0.0) -> None: ...

class Crop(Augmentation):
    kind: str = 'crop'

    def __init__(self, padding: int=4, fill: float=0.0) -> None: ...

class Cutmix(Augmentation):
    kind: str = 'cutmix'

    def __init__(self, alpha: float=1.0) -> None: ...

class Cutout(Augmentation):
    kind: str = 'cutout'

    def __init__(self, size: int=8, probability: float=1.0, fill: float=0.0) -> None: ...

class Erase(Augmentation):
    kind: str = 'erase'

    def __init__(self, probability: float=0.5, smallest: float=0.02, largest: float=0.33, ratio: float=3.3, fill: float=0.0) -> None: ...

class Flip(Augmentation):
    kind: str = 'flip'

    def __init__(self, probability: float=0.5) -> None: ...

class Jitter(Augmentation):
    kind: str = 'jitter'

    def __init__(self, brightness: float=0.2, contrast: float=0.2, saturation: float=0.2) -> None: ...

class Mixup(Augmentation):
    kind: str = 'mixup'

    def __init__(self, alpha: float=0.2) -> None: ...

class Rotate(Augmentation):
    kind: str = 'rotate'

    def __init__(self, degrees: float=10.0, fill: float=0.0) -> None: ...

class VerticalFlip(Augmentation):
    kind: str = 'vertical-flip'

    def __init__(self, probability: float=0.5) -> None: ...


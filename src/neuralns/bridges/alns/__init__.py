"""The learned selector for searches written with the Python package alns, whatever their problem.

>>> from neuralns.bridges.alns import LearnedSelector
>>> selector = LearnedSelector(num_destroy=3, num_repair=2, seconds=60)
"""

from neuralns.bridges.alns.headroom import Headroom as Headroom
from neuralns.bridges.alns.headroom import headroom as headroom
from neuralns.bridges.alns.online import Settings as Settings
from neuralns.bridges.alns.selector import LearnedSelector as LearnedSelector
from neuralns.bridges.alns.training import Trained as Trained
from neuralns.bridges.alns.training import train as train

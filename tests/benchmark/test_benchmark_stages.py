from torch import nn

from mmdet_cppe5.benchmark.stages import PostprocessTimer


class CountingClock:
    """Each mark is one millisecond after the last."""

    def __init__(self):
        self.now = 0

    def mark(self):
        self.now += 1
        return self.now

    def milliseconds(self, start, end):
        return float(end - start)


class Head(nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner

    def predict_by_feat(self, value):
        return value + (self.inner.predict_by_feat(1) if self.inner else 0)


def test_nested_post_processing_counts_once():
    clock = CountingClock()
    model = nn.ModuleList([Head(inner=Head()), nn.Linear(1, 1)])
    timer = PostprocessTimer(clock)
    with timer.attached(model):
        # Two marks of the outer call only: one millisecond apart.
        assert model[0].predict_by_feat(1) == 2
        assert timer.take() == 1.0
        model[0].predict_by_feat(1)
        model[0].inner.predict_by_feat(1)
        assert timer.take() == 2.0
        assert timer.take() == 0.0


def test_the_model_is_left_as_it_was():
    model = Head()
    timer = PostprocessTimer(CountingClock())
    with timer.attached(model):
        assert 'predict_by_feat' in vars(model)
    assert 'predict_by_feat' not in vars(model)
    assert model.predict_by_feat(3) == 3
    assert timer.take() == 0.0

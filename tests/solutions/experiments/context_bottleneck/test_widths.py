"""Test a narrower `c`: the differences between the machines, and the runs over seeds."""

from solutions.experiments.context_bottleneck import everything, widths
from solutions.running.seeds import SEEDS
from solutions.translators.machines import D_CONTEXT


def test_only_layers_attached_to_c_differ():
    narrow, wide = (
        {name: p.shape for name, p in widths.machine(50, 60, width).named_parameters()}
        for width in (widths.WIDTH, D_CONTEXT)
    )
    assert {name for name in narrow if narrow[name] != wide[name]} == {
        "encoder.squeeze.weight",
        "encoder.squeeze.bias",
        "decoder.to_state.weight",
        "decoder.rnn.weight_ih_l0",
        "decoder.read_out.to_embedding.weight",
    }


def test_every_experiment_is_run_with_every_seed(monkeypatch):
    monkeypatch.setattr(everything, "over_seeds", lambda run, jobs: [run(job) for job in jobs])
    for name in everything.EXPERIMENTS:
        monkeypatch.setitem(everything.EXPERIMENTS, name, lambda seed, name=name: (name, seed))
    done = everything.run_all()
    assert list(done) == list(everything.EXPERIMENTS)
    for name, runs in done.items():
        assert [one.found for one in runs] == [(name, seed) for seed in SEEDS]

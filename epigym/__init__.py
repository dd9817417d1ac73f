"""Multi-agent epistemic planning as Gymnasium environments."""

"""One plain function per verb; HTTP handlers and background jobs call the same ones."""

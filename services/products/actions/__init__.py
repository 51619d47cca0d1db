"""One plain function per verb; HTTP and jobs call the same ones."""

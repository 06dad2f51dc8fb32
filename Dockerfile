# The book's environment, from a pinned base and the locked packages: what a release archives.
#   docker build --tag book . && docker run --rm --volume "$PWD/_build:/book/_build" book make reproduce
FROM python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends git make chromium \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /book
COPY . .
RUN make env PYTHON=python TORCH_INDEX=https://download.pytorch.org/whl/cpu
CMD ["make", "reproduce"]

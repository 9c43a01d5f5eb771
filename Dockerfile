# One server. docs/operations.md says what its volumes hold; docker-compose.yml has two of them with all they need.
FROM python:3.11.11-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STATECRAFT_HOST=0.0.0.0 \
    STATECRAFT_PORT=8000 \
    STATECRAFT_DATA=/data \
    STATECRAFT_ARCHIVE=/archive

WORKDIR /statecraft
COPY requirements/run.txt requirements/run.txt
RUN python -m pip install --no-cache-dir --require-hashes -r requirements/run.txt \
    && useradd --system --uid 10001 --no-create-home statecraft \
    && install -d -m 700 -o statecraft -g statecraft /data /data/keys /archive
COPY rules rules
COPY events events
COPY projections projections
COPY server server
COPY docs docs
COPY LICENSE README.md ./

USER 10001
VOLUME ["/data", "/archive"]
EXPOSE 8000
# Alive, not ready: whoever kills a server for its store's trouble has none left when the store is back.
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=5 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
# What ends the server is SIGTERM, so nothing may stand between the engine and it.
ENTRYPOINT ["python", "-m", "server"]
CMD ["serve"]

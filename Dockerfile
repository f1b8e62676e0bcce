# One image for every process of the console; docker-compose.yml says which runs what.
FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements/web.txt requirements/web.txt
RUN pip install -r requirements/web.txt
# Node comes from a wheel, into a venv of its own that stays behind in this stage.
COPY package.json package-lock.json .npmrc ./
COPY tools/vendor_assets.py tools/vendor_assets.py
COPY requirements/npm.txt requirements/npm.txt
RUN python -m venv /node && /node/bin/pip install -r requirements/npm.txt && /node/bin/python tools/vendor_assets.py
COPY manage.py ./
COPY console console
COPY apps apps
COPY workers workers
COPY templates templates
COPY static static
# Compressed copies of the static files are made once, here; the key of this step signs nothing.
RUN DJANGO_SETTINGS_MODULE=console.settings.base PILOTHOUSE_DATA=/app/var PILOTHOUSE_SECRET_KEY=for-this-step-only \
    python manage.py collectstatic --noinput && rm -rf node_modules tools

FROM python:3.11-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=console.settings.production PILOTHOUSE_DATA=/app/var
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin pilothouse
COPY --from=build /venv /venv
COPY --from=build /app /app
RUN mkdir -p /app/var/blobs /app/var/run /app/var/gateway && chown -R 10001:10001 /app/var
WORKDIR /app
USER 10001:10001
EXPOSE 8000 8001
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=3 \
    CMD ["python", "-m", "console.supervisor.health", "http://127.0.0.1:8000/healthz"]
CMD ["python", "-m", "console.supervisor.serve", "web", "--listen", "0.0.0.0:8000", "--processes", "2"]

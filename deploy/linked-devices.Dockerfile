# The image of Parley with the library for phones that are linked by QR code:
# `docker build --tag parley-linked --file deploy/linked-devices.Dockerfile .`, after `docker build --tag parley .`
# It has parts under the GPL 3.0 and the LGPL: docs/linked-devices.md says what that means if you pass the image on.
ARG PARLEY_IMAGE=parley
FROM ${PARLEY_IMAGE}
USER root
RUN npm install --prefix /opt/linked-devices --no-audit --no-fund baileys@7.0.0-rc14
ENV PARLEY_LINKED_DEVICE_LIBRARY=/opt/linked-devices/node_modules/baileys
USER 10001:10001

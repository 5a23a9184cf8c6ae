# heed serve in a container of Debian 12, as a user without rights, on a read-only file system.
#
#   docker build -t heed .
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges -p 127.0.0.1:7333:7333 heed
#
# docs/server.md describes models and API keys in a container.
FROM debian:12-slim AS build
WORKDIR /heed
COPY . .
RUN apt-get update && apt-get install -y --no-install-recommends make ca-certificates git && \
    make build JOBS="$(nproc)" && \
    cmake --install build --prefix /opt/heed --strip && \
    rm -rf /opt/heed/include /opt/heed/lib/libheed.so* /opt/heed/lib/cmake /opt/heed/lib/pkgconfig

FROM debian:12-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends libcld2-0 libdnnl2 libfmt9 libgomp1 libgumbo1 libicu72 \
        libmd4c0 libonig5 libpango-1.0-0 libpangocairo-1.0-0 libsentencepiece0 libtomlplusplus3 fonts-dejavu-core && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --system --uid 7333 --no-create-home --shell /usr/sbin/nologin heed
COPY --from=build /opt/heed /usr/local
USER 7333
EXPOSE 7333
STOPSIGNAL SIGTERM
# In a container, "all addresses" are those of the container; what is published decides who can connect.
ENTRYPOINT ["heed"]
CMD ["serve", "--host", "0.0.0.0", "--port", "7333", "--access-log", "-"]

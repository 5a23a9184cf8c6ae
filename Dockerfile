# heed serve in a container of Debian 12, as a user without rights, on a read-only file system.
#
#   docker build -t heed .
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges -p 127.0.0.1:7333:7333 heed
#
# docs/server.md describes models and API keys in a container. With --target training: an image for training on several
# machines with Kubernetes (docs/several-machines.md).
FROM debian:12-slim AS build
WORKDIR /heed
COPY . .
RUN apt-get update && apt-get install -y --no-install-recommends make ca-certificates git libopenmpi-dev && \
    make build JOBS="$(nproc)" && \
    cmake --install build --prefix /opt/heed --strip && \
    rm -rf /opt/heed/include /opt/heed/lib/libheed.so* /opt/heed/lib/cmake /opt/heed/lib/pkgconfig

FROM debian:12-slim AS command
RUN apt-get update && \
    apt-get install -y --no-install-recommends libcld2-0 libdnnl2 libfmt9 libgomp1 libgumbo1 libicu72 \
        libmd4c0 libonig5 libpango-1.0-0 libpangocairo-1.0-0 libsentencepiece0 libtomlplusplus3 fonts-dejavu-core && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/heed /usr/local

# Open MPI starts processes through SSH, with a key that the MPI operator puts into .ssh. The server needs no root rights
# on a port above 1024. Machines and their names are as short-lived as the job: their host keys are not compared.
FROM command AS training
RUN apt-get update && \
    apt-get install -y --no-install-recommends openmpi-bin openssh-client openssh-server && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --create-home --uid 1000 --shell /bin/bash mpiuser && \
    printf '%s\n' 'Port 2222' 'HostKey /home/mpiuser/.ssh/id_rsa' 'PidFile /home/mpiuser/sshd.pid' 'StrictModes no' \
        'PasswordAuthentication no' 'UsePAM no' >/home/mpiuser/sshd_config && \
    printf '%s\n' 'Host *' '  Port 2222' '  StrictHostKeyChecking no' '  UserKnownHostsFile /dev/null' \
        '  LogLevel ERROR' >/etc/ssh/ssh_config.d/mpi.conf
USER 1000
CMD ["/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/sshd_config"]

FROM command
RUN useradd --system --uid 7333 --no-create-home --shell /usr/sbin/nologin heed
USER 7333
EXPOSE 7333
STOPSIGNAL SIGTERM
# In a container, "all addresses" are those of the container; what is published decides who can connect.
ENTRYPOINT ["heed"]
CMD ["serve", "--host", "0.0.0.0", "--port", "7333", "--access-log", "-"]

// The part of the system interface WASI (preview 1) that heed.wasm uses: files in memory, which cannot be
// written, a clock and random bytes. Heed writes to no file and reads no input here.

/// Errors of WASI, by their numbers.
const kSuccess = 0, kBadDescriptor = 8, kNoEntry = 44, kNotSupported = 52;
const kDirectory = 3, kRegularFile = 4, kCharacterDevice = 2;
const kRoot = 3;  // the descriptor of "/", behind those of input, output and errors

/// A function of imports. The module's numbers of 32 bits arrive signed, so that pointers above 2 GB would be
/// negative; none of those that it passes here can be.
/** @param {(...values: any[]) => number} of @returns {(...values: any[]) => number} */
function withUnsigned(of) {
  return (...values) => of(...values.map((value) => typeof value === "number" ? value >>> 0 : value));
}

/// Thrown where the module ends itself.
export class ModuleExit extends Error {}

export class Wasi {
  /// `files`: the content of each, by its path without the first slash.
  /** @param {Map<string, Uint8Array>} files */
  constructor(files) {
    this.files = files;
    /** @type {WebAssembly.Memory | null} */
    this.memory = null;
    /** @type {Map<number, {path: string, at: number}>} */
    this.open = new Map([[kRoot, {path: "", at: 0}]]);
    this.next = kRoot + 1;
    this.messages = "";  // what the module wrote to standard error
  }

  get view() { return new DataView(/** @type {WebAssembly.Memory} */ (this.memory).buffer); }

  /** @param {number} at @param {number} size */
  bytes(at, size) { return new Uint8Array(/** @type {WebAssembly.Memory} */ (this.memory).buffer, at, size); }

  /// The path that a call names, relative to an open directory.
  /** @param {number} directory @param {number} at @param {number} size */
  path(directory, at, size) {
    const base = this.open.get(directory)?.path ?? "";
    const name = new TextDecoder().decode(this.bytes(at, size).slice());
    const parts = `${base}/${name}`.split("/").filter((part) => part !== "" && part !== ".");
    return parts.join("/");
  }

  /** @param {string} path */
  isDirectory(path) {
    return path === "" || [...this.files.keys()].some((file) => file.startsWith(`${path}/`));
  }

  /** @param {string} path */
  typeOf(path) {
    if (this.files.has(path)) return kRegularFile;
    return this.isDirectory(path) ? kDirectory : 0;
  }

  /// The names in a directory.
  /** @param {string} path */
  list(path) {
    const prefix = path === "" ? "" : `${path}/`;
    const inside = [...this.files.keys()].filter((file) => file.startsWith(prefix));
    return [...new Set(inside.map((file) => file.slice(prefix.length).split("/")[0]))];
  }

  /** @param {number} at @param {string} path */
  writeStatus(at, path) {
    const view = this.view;
    this.bytes(at, 64).fill(0);
    view.setBigUint64(at, 1n, true);
    view.setBigUint64(at + 8, BigInt(1 + [...this.files.keys()].indexOf(path)), true);
    view.setUint8(at + 16, this.typeOf(path));
    view.setBigUint64(at + 24, 1n, true);
    view.setBigUint64(at + 32, BigInt(this.files.get(path)?.length ?? 0), true);
  }

  /// Reads into the buffers of a call from `offset` on, and returns the number of bytes.
  /** @param {string} path @param {number} offset @param {number} buffers @param {number} count */
  read(path, offset, buffers, count) {
    const content = this.files.get(path) ?? new Uint8Array(0), view = this.view;
    let sum = 0;
    for (let n = 0; n < count; ++n) {
      const to = view.getUint32(buffers + 8 * n, true), size = view.getUint32(buffers + 8 * n + 4, true);
      const part = content.subarray(offset + sum, offset + sum + size);
      this.bytes(to, part.length).set(part);
      sum += part.length;
    }
    return sum;
  }

  /// What the module imports; a function that it names beyond these is not supported.
  imports() {
    /** @type {Record<string, (...values: any[]) => number>} */
    const functions = {
      environ_sizes_get: (count, size) => this.writeNumbers([count, 0], [size, 0]),
      environ_get: () => kSuccess,
      args_sizes_get: (count, size) => this.writeNumbers([count, 0], [size, 0]),
      args_get: () => kSuccess,
      clock_res_get: (clock, at) => {
        this.view.setBigUint64(at, 1000000n, true);
        return kSuccess;
      },
      clock_time_get: (clock, precision, at) => {
        const milliseconds = clock === 0 ? Date.now() : performance.now();
        this.view.setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)), true);
        return kSuccess;
      },
      random_get: (at, size) => {
        crypto.getRandomValues(this.bytes(at, size));
        return kSuccess;
      },
      sched_yield: () => kSuccess,
      proc_exit: (status) => {
        throw new ModuleExit(`heed.wasm ended with status ${status}: ${this.messages}`);
      },
      fd_prestat_get: (descriptor, at) => {
        if (descriptor !== kRoot) return kBadDescriptor;
        return this.writeNumbers([at, 0], [at + 4, 1]);
      },
      fd_prestat_dir_name: (descriptor, at) => {
        this.bytes(at, 1)[0] = "/".charCodeAt(0);
        return kSuccess;
      },
      fd_fdstat_get: (descriptor, at) => {
        const file = this.open.get(descriptor);
        if (!file && descriptor > 2) return kBadDescriptor;
        this.bytes(at, 24).fill(0);
        this.view.setUint8(at, file ? this.typeOf(file.path) : kCharacterDevice);
        this.bytes(at + 8, 16).fill(255);  // all rights
        return kSuccess;
      },
      fd_fdstat_set_flags: () => kSuccess,
      fd_filestat_get: (descriptor, at) => {
        const file = this.open.get(descriptor);
        if (!file) return kBadDescriptor;
        this.writeStatus(at, file.path);
        return kSuccess;
      },
      path_filestat_get: (directory, flags, name, size, at) => {
        const path = this.path(directory, name, size);
        if (this.typeOf(path) === 0) return kNoEntry;
        this.writeStatus(at, path);
        return kSuccess;
      },
      path_open: (directory, lookup, name, size, flags, rights, inherited, mode, at) => {
        const path = this.path(directory, name, size);
        if (this.typeOf(path) === 0) return kNoEntry;
        this.open.set(this.next, {path, at: 0});
        return this.writeNumbers([at, this.next++]);
      },
      fd_close: (descriptor) => this.open.delete(descriptor) ? kSuccess : kBadDescriptor,
      fd_read: (descriptor, buffers, count, at) => {
        const file = this.open.get(descriptor);
        if (!file) return kBadDescriptor;
        const size = this.read(file.path, file.at, buffers, count);
        file.at += size;
        return this.writeNumbers([at, size]);
      },
      fd_pread: (descriptor, buffers, count, offset, at) => {
        const file = this.open.get(descriptor);
        if (!file) return kBadDescriptor;
        return this.writeNumbers([at, this.read(file.path, Number(offset), buffers, count)]);
      },
      fd_seek: (descriptor, offset, whence, at) => {
        const file = this.open.get(descriptor);
        if (!file) return kBadDescriptor;
        const from = [0, file.at, this.files.get(file.path)?.length ?? 0][whence];
        file.at = from + Number(offset);
        this.view.setBigUint64(at, BigInt(file.at), true);
        return kSuccess;
      },
      fd_readdir: (descriptor, at, size, cookie, used) => {
        const file = this.open.get(descriptor);
        if (!file) return kBadDescriptor;
        return this.writeNumbers([used, this.writeDirectory(file.path, at, size, Number(cookie))]);
      },
      fd_write: (descriptor, buffers, count, at) => {
        const view = this.view;
        let sum = 0;
        for (let n = 0; n < count; ++n) {
          const from = view.getUint32(buffers + 8 * n, true),
                size = view.getUint32(buffers + 8 * n + 4, true);
          this.messages += new TextDecoder().decode(this.bytes(from, size).slice());
          sum += size;
        }
        return this.writeNumbers([at, sum]);
      },
    };
    return new Proxy(
        functions, {get: (known, name) => withUnsigned(known[String(name)] ?? (() => kNotSupported))});
  }

  /// Writes numbers of 32 bits: pairs of an address and a value.
  /** @param {number[][]} pairs */
  writeNumbers(...pairs) {
    for (const [at, value] of pairs) this.view.setUint32(at, value, true);
    return kSuccess;
  }

  /// The entries of a directory from `first` on, as far as they fit.
  /** @param {string} path @param {number} at @param {number} size @param {number} first */
  writeDirectory(path, at, size, first) {
    const entries = this.list(path);
    let used = 0;
    for (let n = first; n < entries.length && used < size; ++n) {
      const name = new TextEncoder().encode(entries[n]), entry = new Uint8Array(24 + name.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(n + 1), true);
      view.setBigUint64(8, BigInt(n + 1), true);
      view.setUint32(16, name.length, true);
      view.setUint8(20, this.typeOf(path === "" ? entries[n] : `${path}/${entries[n]}`));
      entry.set(name, 24);
      const part = entry.subarray(0, size - used);
      this.bytes(at + used, part.length).set(part);
      used += part.length;
    }
    return used;
  }
}

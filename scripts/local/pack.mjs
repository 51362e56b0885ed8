// Packs many files into one blob: the length of a JSON index, the index, then the files. serve.mjs writes it, and host.mjs
// reads it inside workerd, where that is several times faster than unpacking an archive with Python.
export function pack(files) {
  const encoder = new TextEncoder();
  const index = encoder.encode(JSON.stringify(files.map(([path, bytes]) => [path, bytes.length])));
  const header = new Uint8Array(4);
  new DataView(header.buffer).setUint32(0, index.length);
  return Buffer.concat([header, index, ...files.map(([, bytes]) => bytes)]);
}

export function* unpack(buffer) {
  const indexLength = new DataView(buffer).getUint32(0);
  const index = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, indexLength)));
  let offset = 4 + indexLength;
  for (const [path, length] of index) {
    yield [path, new Uint8Array(buffer, offset, length)];
    offset += length;
  }
}

const PAGE = 4096;

// Packs a memory image without its empty pages, which are half of it. Each file is a run of pages, named by its offset.
export function packMemory(memory) {
  const runs = [];
  for (let at = 0, start = 0; at <= memory.length; at += PAGE) {
    const empty = at >= memory.length || memory.subarray(at, at + PAGE).every((byte) => byte === 0);
    if (!empty) continue;
    if (at > start) runs.push([String(start), memory.subarray(start, at)]);
    start = at + PAGE;
  }
  return pack([...runs, [String(memory.length), new Uint8Array()]]);
}

export function unpackMemory(buffer) {
  const runs = [...unpack(buffer)];
  const memory = new Uint8Array(Number(runs.at(-1)[0]));
  for (const [start, bytes] of runs) memory.set(bytes, Number(start));
  return memory;
}

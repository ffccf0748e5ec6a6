// Durable single-mutation commits over HTTP, against the disk's own rate of write + fdatasync in the same folder.
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { client, load, n, scratch, startService } from './service.mjs';

export const name = 'Durable commits over HTTP (one mutation a request)';

function diskRate(dir) {
  const fd = openSync(join(dir, 'probe'), 'w');
  const page = Buffer.alloc(4096, 1);
  const from = performance.now();
  let count = 0;
  while (performance.now() - from < 1500) {
    writeSync(fd, page, 0, page.length, (count % 256) * 4096);
    fdatasyncSync(fd);
    count++;
  }
  closeSync(fd);
  return count / ((performance.now() - from) / 1000);
}

export async function run(print) {
  const probe = scratch('disk');
  const disk = diskRate(probe.dir);
  probe.remove();
  const service = await startService();
  const http = client(service.url);
  try {
    await http.post('/alter', 'name: string @index(exact) .\nage: int .', 'text/plain');
    const mutate = async (i) => {
      const body = await http.post(
        '/mutate?commitNow=true',
        `{ set { _:a <name> "person ${i}" . _:a <age> "${i % 90}" . } }`,
        'application/rdf',
      );
      if (!body.includes('Success')) throw new Error(body.toString());
    };
    await load({ clients: 16, ms: 1500, work: mutate });
    const many = await load({ clients: 64, ms: 6000, work: (i) => mutate(i + 1e6) });
    const one = await load({ clients: 1, ms: 3000, work: (i) => mutate(i + 1e7) });
    print('64 clients: commits/s, p50, p99', `${n(many.rate)}/s  ${n(many.p50, 1)} ms  ${n(many.p99, 1)} ms`);
    print('1 client: commits/s, p99', `${n(one.rate)}/s  ${n(one.p99, 1)} ms`);
    print("the disk's write + fdatasync", `${n(disk)}/s`);
    print('1 client against the disk', `${n(one.rate / disk, 2)}x`);
  } finally {
    http.close();
    await service.stop();
  }
}

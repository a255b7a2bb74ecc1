import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { judge } from './advisories.mjs';

const advisory = {
  title: 'Test advisory',
  url: 'https://advisories.example.test/GHSA-1',
  severity: 'high',
  cwe: [],
  cvss: { score: 0, vectorString: null },
};

/** Output of npm 11.19. */
const recorded = {
  none: { auditReportVersion: 2, vulnerabilities: {}, metadata: { vulnerabilities: { total: 0 }, dependencies: { total: 580 } } },
  found: {
    auditReportVersion: 2,
    vulnerabilities: {
      re2js: {
        name: 're2js',
        severity: 'high',
        isDirect: true,
        via: [{ source: 1, name: 're2js', dependency: 're2js', ...advisory, range: '<99.0.0' }],
        effects: ['kept'],
        range: '',
        nodes: ['node_modules/re2js'],
        fixAvailable: false,
      },
      kept: { name: 'kept', severity: 'high', isDirect: true, via: ['re2js'], effects: [], range: '*', nodes: [], fixAvailable: false },
    },
    metadata: { vulnerabilities: { high: 2, total: 2 }, dependencies: { total: 580 } },
  },
  refused: {
    message: '405 Method Not Allowed - POST https://registry.example.test/-/npm/v1/security/advisories/bulk',
    method: 'POST',
    uri: 'https://registry.example.test/-/npm/v1/security/advisories/bulk',
    headers: { allow: ['GET,HEAD'], 'content-length': ['0'] },
    statusCode: 405,
    body: '',
    error: { summary: '', detail: '' },
  },
  unreachable: {
    message:
      'request to https://registry.example.test/-/npm/v1/security/advisories/bulk failed, reason: connect ECONNREFUSED 127.0.0.1:27099',
    error: { summary: '', detail: '' },
  },
  withoutLock: { error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.', detail: '' } },
};

it.each([
  ['none', ['no dependency has a known advisory']],
  ['found', ['re2js <99.0.0 (high): Test advisory https://advisories.example.test/GHSA-1', 'kept * (high) depends on re2js']],
] as const)('interprets a report: %s', (verdict, lines) => {
  expect(judge(JSON.stringify(recorded[verdict]))).toEqual({ verdict, lines });
});

it.each(['refused', 'unreachable'] as const)('succeeds with the reason if the registry provides no advisories: %s', (outcome) => {
  const { message } = recorded[outcome];
  expect(judge(JSON.stringify(recorded[outcome]))).toEqual({
    verdict: 'unreachable',
    lines: [`not checked: the registry provides no advisories: ${message}`],
  });
});

it('throws for other errors of npm', () => {
  expect(() => judge(JSON.stringify(recorded.withoutLock))).toThrow('npm audit failed: This command requires an existing lockfile.');
  for (const [output, shown] of [
    ['', 'nothing'],
    ['null', 'null'],
    ['npm: not found', 'npm: not found'],
  ] as const)
    expect(() => judge(output)).toThrow(`npm audit printed no report: ${shown}`);
});

/** Runs the script against a registry with these advisories; undefined: a registry without an advisory service. */
async function check(advisories: object | undefined): Promise<{ code: number; stdout: string }> {
  const registry = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const isKnown = request.url?.endsWith('/advisories/bulk') === true && advisories !== undefined;
      response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(isKnown ? advisories : {}));
    });
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  const { port } = registry.address() as AddressInfo;
  // npm caches advisories by id.
  const cache = await mkdtemp(join(tmpdir(), 'kubenest-advisories-'));
  const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string }>();
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: cache };
  execFile(process.execPath, [join(import.meta.dirname, 'advisories.mjs')], { env }, (error, stdout) =>
    resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout }),
  );
  return promise.finally(async () => {
    registry.close();
    await rm(cache, { recursive: true, force: true });
  });
}

it('the script fails only if the registry has an advisory', { timeout: 60_000 }, async () => {
  const known = { re2js: [{ id: 1, ...advisory, vulnerable_versions: '<99.0.0' }] };
  expect(await check(known)).toEqual({
    code: 1,
    stdout: 'advisories: re2js <99.0.0 (high): Test advisory https://advisories.example.test/GHSA-1\n',
  });
  expect(await check({})).toEqual({ code: 0, stdout: 'advisories: no dependency has a known advisory\n' });
  expect(await check(undefined)).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^advisories: not checked: the registry provides no advisories: 404 Not Found/) as string,
  });
});

import { Buffer } from 'node:buffer';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { startTestCluster } from '#testing/index';
import { authenticationInfoWatch, readAuthenticationInfo } from './complete-delegation.ts';
import { DelegationOptions } from './delegation-options.ts';

const configMap = (data?: unknown) => Buffer.from(JSON.stringify({ kind: 'ConfigMap', data }));

describe('authentication information for extension servers', () => {
  let pem: string;
  beforeAll(async () => {
    pem = (await Authority.create('ca')).pair.cert;
  });

  it('names the authorities of clients and front proxies, and the proxy headers', () => {
    const data = {
      'client-ca-file': pem,
      'requestheader-client-ca-file': pem,
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-allowed-names': '["front-proxy"]',
    };
    expect(readAuthenticationInfo(configMap(data))).toEqual({
      clientCa: pem,
      requestHeader: {
        clientCa: pem,
        usernameHeaders: ['X-Remote-User'],
        uidHeaders: [],
        groupHeaders: ['X-Remote-Group'],
        extraHeaderPrefixes: ['X-Remote-Extra-'],
        allowedNames: ['front-proxy'],
      },
    });
  });

  it.each([{ data: undefined }, { data: {} }, { data: [] }, { data: { 'client-ca-file': '' } }])('may be empty: $data', ({ data }) => {
    expect(readAuthenticationInfo(configMap(data))).toEqual({ clientCa: undefined, requestHeader: undefined });
  });

  it.each([
    { name: 'no certificate', data: { 'client-ca-file': 'x' } },
    { name: 'no list', data: () => ({ 'requestheader-client-ca-file': pem, 'requestheader-allowed-names': '"a"' }) },
    { name: 'no JSON', data: () => ({ 'requestheader-client-ca-file': pem, 'requestheader-allowed-names': 'a' }) },
  ])('is refused: $name', ({ data }) => {
    expect(() => readAuthenticationInfo(configMap(typeof data === 'function' ? data() : data))).toThrow(Error);
  });
});

describe('authentication information that changes', () => {
  it('reaches the listener at once, also after a broken watch, and repeats failed calls', async () => {
    await using front = await startTestCluster({ listen: true });
    await using folder = await mkdtempDisposable(join(tmpdir(), 'kubenest-delegation-'));
    const kubeconfig = join(folder.path, 'front.conf');
    await writeFile(kubeconfig, front.kubeconfig());
    const options = new DelegationOptions();
    options.authenticationKubeconfig = kubeconfig;
    let calls = 0;
    let fails = false;
    const failures: unknown[] = [];
    using _watch = authenticationInfoWatch(options)?.({
      async changed() {
        calls += 1;
        if (fails) throw new Error('not now');
      },
      failed: (error) => failures.push(error),
    });
    await expect.poll(() => calls).toBe(1);
    const change = async (value: string): Promise<number> => {
      const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
      const headers = { 'content-type': 'application/merge-patch+json' };
      return (await front.fetch(path, { method: 'PATCH', headers, body: { data: { note: value } } })).status;
    };
    expect(await change('a')).toBe(200);
    await expect.poll(() => calls, { timeout: 1_000 }).toBe(2);
    fails = true;
    await change('b');
    await expect.poll(() => failures).toEqual([expect.objectContaining({ message: 'not now' })]);
    fails = false;
    // The watch has restarted.
    await expect.poll(() => calls, { timeout: 5_000 }).toBe(4);
    await change('c');
    await expect.poll(() => calls).toBe(5);
  });

  it.each([
    { name: 'without another server', change: {} },
    { name: 'when the lookup is skipped', change: { authenticationKubeconfig: 'x', authenticationSkipLookup: true } },
  ])('is not watched $name', ({ change }) => {
    expect(authenticationInfoWatch(Object.assign(new DelegationOptions(), change))).toBeUndefined();
  });
});

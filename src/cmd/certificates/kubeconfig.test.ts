import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { writeKubeconfig } from './kubeconfig.ts';

test('does not write a file with the same content', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-kubeconfig-'));
  const file = join(folder, 'kubeconfig');
  const parts = { server: 'https://127.0.0.1:6443', ca: 'CA', client: { cert: 'CERT', key: 'KEY' } };
  await writeKubeconfig(file, parts);
  const { ino } = await stat(file);
  await writeKubeconfig(file, parts);
  expect((await stat(file)).ino).toBe(ino);
  await writeKubeconfig(file, { ...parts, server: 'https://127.0.0.1:7443' });
  expect((await stat(file)).ino).not.toBe(ino);
  await rm(folder, { recursive: true });
});

test('a client library reads the server, the authority and the certificate', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-kubeconfig-'));
  const file = join(folder, 'kubeconfig');
  await writeKubeconfig(file, { server: 'https://127.0.0.1:6443', ca: 'CA', client: { cert: 'CERT', key: 'KEY' } });
  await writeKubeconfig(file, { server: 'https://127.0.0.1:7443', ca: 'CA', client: { cert: 'CERT', key: 'KEY' } });
  const config = new KubeConfig();
  config.loadFromString(await readFile(file, 'utf8'));
  const text = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();
  expect(config.getCurrentCluster()?.server).toBe('https://127.0.0.1:7443');
  expect([config.getCurrentCluster()?.caData, config.getCurrentUser()?.certData, config.getCurrentUser()?.keyData].map(text)).toEqual([
    'CA',
    'CERT',
    'KEY',
  ]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['kubeconfig']);
  await rm(folder, { recursive: true });
});

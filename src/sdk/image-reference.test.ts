import { describe, expect, it } from 'vitest';
import { parseImage } from './image-reference.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const digest = `sha256:${'0a'.repeat(32)}`;
const hub = 'docker.io';

describe('parseImage reads', () => {
  it.each([
    { text: 'nginx', registry: hub, repository: 'library/nginx', tag: 'latest', digest: undefined },
    { text: 'nginx:1.29', registry: hub, repository: 'library/nginx', tag: '1.29', digest: undefined },
    { text: 'acme/web', registry: hub, repository: 'acme/web', tag: 'latest', digest: undefined },
    { text: 'docker.io/nginx', registry: hub, repository: 'library/nginx', tag: 'latest', digest: undefined },
    { text: 'GHCR.io:443/acme/web', registry: 'ghcr.io', repository: 'acme/web', tag: 'latest', digest: undefined },
    { text: 'registry-1.docker.io/nginx', registry: hub, repository: 'library/nginx', tag: 'latest', digest: undefined },
    { text: 'index.docker.io/acme/web', registry: hub, repository: 'acme/web', tag: 'latest', digest: undefined },
    { text: 'ghcr.io/acme/web:v1', registry: 'ghcr.io', repository: 'acme/web', tag: 'v1', digest: undefined },
    { text: 'ghcr.io/web', registry: 'ghcr.io', repository: 'web', tag: 'latest', digest: undefined },
    { text: 'localhost/web', registry: 'localhost', repository: 'web', tag: 'latest', digest: undefined },
    { text: 'localhost:5000/a/b/c', registry: 'localhost:5000', repository: 'a/b/c', tag: 'latest', digest: undefined },
    { text: '[::1]:5000/web:1', registry: '[::1]:5000', repository: 'web', tag: '1', digest: undefined },
    { text: 'Registry/web', registry: 'registry', repository: 'web', tag: 'latest', digest: undefined },
    { text: `nginx@${digest}`, registry: hub, repository: 'library/nginx', tag: undefined, digest },
    { text: `quay.io/a__b/c.d-e:1@${digest}`, registry: 'quay.io', repository: 'a__b/c.d-e', tag: '1', digest },
  ])('$text', ({ text, ...want }) => {
    expect(parseImage(text)).toEqual({ ...want, name: `${want.registry}/${want.repository}` });
  });
});

it('gives each caller a result of its own', () => {
  const first = parseImage('ghcr.io/acme/web:1.2') as { tag: string };
  first.tag = 'changed';
  expect(parseImage('ghcr.io/acme/web:1.2')?.tag).toBe('1.2');
});

describe('parseImage rejects', () => {
  it.each([
    '',
    ' nginx',
    'NGINX',
    'nginx:',
    'nginx:-1',
    'nginx@',
    'nginx@sha256:12',
    'a//b',
    '/nginx',
    'ghcr.io/',
    'ghcr.io:port/web',
    'web_-a',
    `nginx:${'1'.repeat(129)}`,
    `acme/${'a'.repeat(256)}`,
  ])('%j', (text) => {
    expect(parseImage(text)).toBeUndefined();
  });

  it('a long text in linear time', () => {
    const began = threadMilliseconds();
    expect(parseImage(`${'a-'.repeat(100_000)}!`)).toBeUndefined();
    expect(threadMilliseconds() - began).toBeLessThan(500);
  });
});

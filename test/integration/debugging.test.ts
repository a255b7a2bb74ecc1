import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({
    users: [{ name: 'alice' }],
    flags: ['--request-timeout=90s', '--feature-gates=CBORServingAndStorage=true'],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const statusz = (version: string): string => `;v=${version};g=config.k8s.io;as=Statusz`;
const flagz = (version: string): string => `;v=${version};g=config.k8s.io;as=Flagz`;
const notAcceptable = /only the following media types are accepted: application\/json, application\/yaml, application\/cbor, text\/plain/;

/** Responses equal those of kube-apiserver v1.36.3. */
describe('debugging endpoints', () => {
  it.each<{ path: string; accept?: string; method?: string; status: number; type: string; body?: RegExp; warning?: string }>([
    { path: '/statusz', accept: '', status: 200, type: 'text/plain; charset=utf-8', body: /^\napiserver statusz\nWarning: This endpoint/ },
    { path: '/statusz', accept: '*/*', method: 'POST', status: 200, type: 'text/plain; charset=utf-8', body: /\nPaths.+\/flagz \/healthz/ },
    { path: '/statusz', accept: 'application/json', status: 406, type: 'application/json', body: notAcceptable },
    { path: '/statusz', accept: 'application/yaml', status: 406, type: 'application/yaml', body: /reason: NotAcceptable/ },
    { path: '/statusz', accept: 'text/html', status: 406, type: 'application/json', body: /^\{\n {2}"kind": "Status"/ },
    { path: '/statusz', accept: `application/json${statusz('v1')}`, status: 406, type: 'application/json', body: notAcceptable },
    { path: '/statusz', accept: `text/plain${statusz('v1beta1')}`, status: 406, type: 'application/json', body: notAcceptable },
    {
      path: '/statusz',
      accept: `application/json${statusz('v1beta1')}`,
      status: 200,
      type: 'application/json;g=config.k8s.io;v=v1beta1;as=Statusz',
      body: /^\{"kind":"Statusz","apiVersion":"config.k8s.io\/v1beta1","metadata":\{"name":"apiserver"\},"startTime":"[^"]+Z","uptimeSeconds":\d+,"goVersion":"node-v[^"]+","binaryVersion":"1.36.3","emulationVersion":"1.36","paths":\[.*"\/version"\]\}\n$/,
    },
    {
      path: '/statusz',
      accept: `text/html, application/yaml${statusz('v1alpha1')}`,
      status: 200,
      type: 'application/yaml;g=config.k8s.io;v=v1alpha1;as=Statusz',
      body: /^apiVersion: config.k8s.io\/v1alpha1\nbinaryVersion: 1.36.3\nemulationVersion: "1.36"\n/,
      warning: '299 - "This version of the statusz endpoint is deprecated. Please use a newer version."',
    },
    { path: '/flagz', accept: 'text/plain', status: 200, type: 'text/plain; charset=utf-8', body: /\nrequest-timeout\W{1,2}1m30s\n/ },
    { path: '/flagz', accept: 'application/json', status: 406, type: 'application/json', body: notAcceptable },
    {
      path: '/flagz',
      accept: `application/json${flagz('v1beta1')}`,
      status: 200,
      type: 'application/json;g=config.k8s.io;v=v1beta1;as=Flagz',
      body: /^\{"kind":"Flagz",.*"allow-metric-labels":"\[\]".*"feature-gates":":CBORServingAndStorage=true".*"profiling":"true"/,
    },
    { path: '/debug/flags', status: 200, type: 'text/html; charset=utf-8', body: /<tr>v<br>/ },
    { path: '/debug/flags/nope', status: 200, type: 'text/html; charset=utf-8', body: /<tr>v<br>/ },
    { path: '/debug/flags/v', status: 406, type: 'text/plain', body: /^unsupported http method\n$/ },
    { path: '/debug/pprof/', status: 200, type: 'text/html; charset=utf-8', body: /<a href='profile\?debug=1'>profile<\/a>/ },
    { path: '/debug/pprof/cmdline', status: 404, type: 'text/plain; charset=utf-8', body: /^Unknown profile\n$/ },
    {
      path: '/debug/pprof/goroutine?debug=1',
      status: 200,
      type: 'text/plain; charset=utf-8',
      body: /^goroutine profile: total \d+\n(\d+ @ \w+\n)+$/,
    },
    { path: '/debug/pprof/symbol', status: 200, type: 'text/plain; charset=utf-8', body: /^num_symbols: 1\n$/ },
    { path: '/debug/pprof', status: 302, type: 'text/html; charset=utf-8', body: /^<a href="\/debug\/pprof\/">Found<\/a>\.\n\n$/ },
    {
      path: '/version',
      accept: 'text/plain',
      status: 406,
      type: 'application/json',
      body: /406: Not Acceptable\\n\\nAvailable representations: application\/json/,
    },
    { path: '/version/', accept: 'application/yaml', status: 406, type: 'application/yaml' },
    { path: '/version', accept: 'application/*', status: 406, type: 'application/json' },
    { path: '/version', accept: 'text/plain, */*', status: 200, type: 'application/json' },
  ])('$method $path, $accept: $status', async ({ path, accept = '*/*', method = 'GET', status, type, body = /./, warning = null }) => {
    const answer = await cluster.fetch(path, { method, headers: { accept } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.headers.get('warning')).toBe(warning);
    expect(await answer.text()).toMatch(body);
  });

  it('require permission', async () => {
    for (const path of ['/metrics/slis', '/statusz', '/flagz', '/debug/flags/v', '/debug/pprof/', '/debug/pprof/profile'])
      for (const as of ['alice', null]) expect((await cluster.fetch(path, { as })).status).toBe(403);
  });

  it('the log verbosity can be changed', async () => {
    const put = async (body: string): Promise<[number, string]> => {
      const answer = await cluster.fetch('/debug/flags/v', { method: 'PUT', body });
      return [answer.status, await answer.text()];
    };
    expect(await put('x')).toEqual([400, 'strconv.ParseUint: parsing "x": invalid syntax\n']);
    expect(await put('+3')).toEqual([400, 'strconv.ParseUint: parsing "+3": invalid syntax\n']);
    expect(await put('99999999999')).toEqual([400, 'strconv.ParseUint: parsing "99999999999": value out of range\n']);
    expect(await put('2147483648')).toEqual([
      400,
      'failed set klog.logging.verbosity 2147483648: strconv.ParseInt: parsing "2147483648": value out of range\n',
    ]);
    expect(cluster.app.log.chain.logsRequests).toBe(false);
    expect(await put('3')).toEqual([200, 'successfully set klog.logging.verbosity to 3\n']);
    expect(cluster.app.log.chain.logsRequests).toBe(true);
    expect(await put('0')).toEqual([200, 'successfully set klog.logging.verbosity to 0\n']);
    expect(cluster.app.log.chain.logsRequests).toBe(false);
  });

  it("a CPU profile has pprof's format, and only one runs at a time", async () => {
    const first = cluster.fetch('/debug/pprof/profile?seconds=1');
    const second = await cluster.fetch('/debug/pprof/profile?seconds=1');
    expect(second.status).toBe(500);
    expect(await second.text()).toBe('Could not enable CPU profiling: cpu profiling already in use\n');
    const answer = await first;
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="profile"');
    const message = gunzipSync(Buffer.from(await answer.arrayBuffer())).toString('latin1');
    for (const text of ['samples', 'cpu', 'nanoseconds', '(root)']) expect(message).toContain(text);
  });

  it.each([
    ['heap?seconds=1', ['inuse_space', 'bytes']],
    ['allocs?seconds=1', ['alloc_space', 'bytes', '.ts']],
    ['goroutine', ['goroutine', 'count']],
    ['block', ['contentions', 'delay']],
    ['mutex', ['contentions', 'delay']],
    ['threadcreate', ['threadcreate']],
  ])("the profile %s has pprof's format", async (query, texts) => {
    const name = query.replace(/\?.*/, '');
    const asked = cluster.fetch(`/debug/pprof/${query}`);
    // Generates samples.
    if (query.includes('seconds')) for (let i = 0; i < 20; i += 1) await (await cluster.fetch('/api/v1/namespaces')).text();
    const answer = await asked;
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
    const message = gunzipSync(Buffer.from(await answer.arrayBuffer())).toString('latin1');
    for (const text of texts) expect(message).toContain(text);
  });

  it('/metrics/slis reports the last and total results of each check', async () => {
    const readSlis = async (): Promise<string> => (await cluster.fetch('/metrics/slis')).text();
    expect(await (await cluster.fetch('/metrics/slis', { method: 'DELETE' })).text()).toBe('metrics reset\n');
    expect(await readSlis()).toBe('');
    for (const path of ['/livez', '/livez?verbose', '/livez?exclude=ping', '/livez/ping'])
      expect((await cluster.fetch(path)).status).toBe(200);
    const lines = (await readSlis()).split('\n');
    expect(lines).toContain('# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.');
    expect(lines).toContain('kubernetes_healthcheck{name="ping",type="livez"} 1');
    expect(lines).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 2');
    expect(lines).toContain('kubernetes_healthchecks_total{name="log",status="success",type="livez"} 3');
    expect(lines.filter((line) => line.includes('readyz'))).toEqual([]);
  });
});

it('without profiling there are no profiles, flag settings or metric resets', async () => {
  await using other = await startTestCluster({ flags: ['--profiling=false'] });
  for (const path of ['/debug/pprof', '/debug/pprof/', '/debug/pprof/profile', '/debug/flags', '/debug/flags/v'])
    expect((await other.fetch(path)).status).toBe(404);
  for (const path of ['/metrics', '/metrics/slis'])
    expect(await (await other.fetch(path, { method: 'DELETE' })).text()).not.toContain('metrics reset');
});

it('debugging endpoints disappear with their feature gates', async () => {
  await using cluster = await startTestCluster({ flags: ['--feature-gates=ComponentFlagz=false,ComponentStatusz=false'] });
  for (const path of ['/statusz', '/flagz']) expect((await cluster.fetch(path)).status, path).toBe(404);
  const { paths } = (await (await cluster.fetch('/')).json()) as { paths: string[] };
  expect(paths.filter((path) => path === '/statusz' || path === '/flagz')).toEqual([]);
});

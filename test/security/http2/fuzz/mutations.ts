/** Mutations of valid sequences by name. Each introduces at most one fault. */
import { Buffer } from 'node:buffer';
import { block, type Field, flag, hpackInteger, none, pseudo, setting, settings, types, uint32 } from '../frames.ts';
import { type FrameSpec, headerFrames, newRequest, pick, type Random, type RequestSpec, type Script, spec } from './script.ts';

export interface Mutation {
  readonly name: string;
  apply(script: Script, random: Random): void;
}

type OnRequest = (request: RequestSpec, random: Random, script: Script) => void;

const any = (random: Random, { requests }: Script): RequestSpec => pick(random, requests);
const onRequest = (name: string, change: OnRequest): Mutation => ({
  name,
  apply: (script, random) => change(any(random, script), random, script),
});
const addField = (name: string, ...fields: Field[]): Mutation =>
  onRequest(name, (request, random) => {
    const place = 4 + random(request.fields.length - 3);
    request.fields.splice(place, 0, ...fields);
  });
const setField = (request: RequestSpec, name: string, value: string): void => {
  request.fields = request.fields.map((field) => (field[0] === name ? [name, value] : field));
};
const pathOf = (request: RequestSpec, path: string): void => setField(request, ':path', path);

/** Returns a request that is never answered, so that its stream state does not depend on the server's speed. */
const hanging = (random: Random, script: Script, isOpen: boolean): RequestSpec => {
  const request = any(random, script);
  pathOf(request, '/hang');
  Object.assign(request, { isOpen, trailers: undefined, body: isOpen ? [Buffer.from('open')] : undefined });
  setField(request, ':method', isOpen ? 'POST' : 'GET');
  request.fields = request.fields.filter(([name]) => name !== 'content-length');
  return request;
};
/** Sends a frame after the requests on a stream in a known state. */
const behind = (name: string, state: 'open' | 'half-closed', make: (stream: number, random: Random) => FrameSpec[]): Mutation => ({
  name: `${name}, stream ${state}`,
  apply: (script, random) => {
    const { stream } = hanging(random, script, state === 'open');
    script.after = make(stream, random);
  },
});
/** Sends frames on a stream whose request was answered. */
const onAnswered = (name: string, make: (stream: number, random: Random) => FrameSpec[]): Mutation => ({
  name: `${name}, stream closed`,
  apply: (script, random) => {
    const request = any(random, script);
    pathOf(request, '/echo');
    request.isOpen = false;
    script.settings = [[setting.initialWindowSize, 65_535]];
    script.after = make(request.stream, random);
  },
});
const onConnection = (name: string, make: (random: Random, script: Script) => FrameSpec[]): Mutation => ({
  name,
  apply: (script, random) => {
    const frames = make(random, script);
    if (random(2) === 0) script.before.push(...frames);
    else script.after.push(...frames);
  },
});
/** Opens a stream with a number above those of the requests. */
const opening = (name: string, make: () => FrameSpec[]): Mutation => ({
  name,
  apply: (script) => {
    script.after.push(...make());
  },
});
/** Inserts a frame within a header block. */
const withinBlock = (name: string, make: (stream: number) => FrameSpec): Mutation => ({
  name: `${name} within a header block`,
  apply: (script, random) => {
    const request = newRequest(random, 101, '/echo');
    Object.assign(request, { pieces: 3 });
    const frames = headerFrames(request, block(request.fields), true);
    frames.splice(1 + random(frames.length - 1), 0, make(101));
    script.after = frames;
  },
});
const idle = 151;
const raw = (name: string, values: readonly (readonly [number, number])[], isCut = false): Mutation =>
  onConnection(name, () => [spec(types.settings, 0, 0, settings(...values).subarray(9, isCut ? -1 : undefined))]);
const unknown = 0x77;
const priorityOf = (stream: number): Buffer => Buffer.concat([uint32(stream), Buffer.from([0])]);

const ofFields: Mutation[] = [
  addField('a name in upper case', ['X-Upper', '1']),
  addField('an empty name', ['', '1']),
  ...[' ', '\0', '\n', '\r', '(', '@', '\x7f', '\xe9', 'a:b', '"', '/', '{'].map((text) =>
    addField(`the name ${JSON.stringify(text)}`, [`x${text}`, '1']),
  ),
  ...['\0', '\r', '\n', '\x01', '\x1f', '\x7f'].map((text) => addField(`the value ${JSON.stringify(text)}`, ['x-value', `a${text}b`])),
  ...[' a', 'a ', '\ta', 'a\t', ' '].map((text) => addField(`the padded value ${JSON.stringify(text)}`, ['x-value', text])),
  ...['connection', 'keep-alive', 'proxy-connection', 'upgrade'].map((name) => addField(`the field ${name}`, [name, 'x'])),
  addField('the field transfer-encoding', ['transfer-encoding', 'chunked']),
  addField('te: gzip', ['te', 'gzip']),
  addField('te: trailers, gzip', ['te', 'trailers, gzip']),
  addField('te twice', ['te', 'trailers'], ['te', 'trailers']),
  addField('host beside :authority', ['host', 'localhost']),
  addField('another host than :authority', ['host', 'elsewhere']),
  addField('two hosts', ['host', 'localhost'], ['host', 'localhost']),
  addField('many fields', ...Array.from({ length: 300 }, (_, i): Field => [`x-${i}`, 'v'])),
  onRequest('a large field', (request) => {
    request.fields.push(['x-large', 'v'.repeat(50_000)]);
    request.pieces = 5;
  }),
  addField('an unknown pseudo-header', [':foo', 'bar']),
  addField('a pseudo-header of answers', [':status', '200']),
  addField(':protocol', [':protocol', 'websocket']),
  ...[':method', ':scheme', ':authority', ':path'].flatMap((name): Mutation[] => [
    onRequest(`no ${name}`, (request) => {
      request.fields = request.fields.filter(([each]) => each !== name);
    }),
    onRequest(`${name} twice`, (request, random) => {
      const field = request.fields.find(([each]) => each === name)!;
      request.fields.splice(random(5), 0, field);
    }),
    onRequest(`${name} behind other fields`, (request) => {
      const field = request.fields.find(([each]) => each === name)!;
      request.fields = [...request.fields.filter((each) => each !== field), ['x-a', 'b'], field];
    }),
    onRequest(`${name} empty`, (request) => setField(request, name, '')),
  ]),
  onRequest('pseudo-headers in another order', (request) => {
    request.fields = [...request.fields.slice(0, 4).reverse(), ...request.fields.slice(4)];
  }),
  ...[
    'echo',
    '*',
    'https://localhost/echo',
    '/ec ho',
    '/ec\tho',
    '/ec\0ho',
    '/ec\x7fho',
    '/ec\xe9ho',
    '/echo?a=b',
    '/echo#x',
    '//echo',
    '/%zz',
  ].map((path) => onRequest(`the path ${JSON.stringify(path)}`, (request) => pathOf(request, path))),
  ...['get', 'G T', 'G\0T', 'G(T', 'CONNECT', 'BREW'].map((method) =>
    onRequest(`the method ${JSON.stringify(method)}`, (request) => setField(request, ':method', method)),
  ),
  ...['http', 'HTTPS', 'ftp', 'h ttp', '1http'].map((scheme) =>
    onRequest(`the scheme ${JSON.stringify(scheme)}`, (request) => setField(request, ':scheme', scheme)),
  ),
  ...['a b', 'user@localhost', 'a/b', 'localhost:99999', 'a\0b', '[::1]:80', 'caf\xe9'].map((authority) =>
    onRequest(`the authority ${JSON.stringify(authority)}`, (request) => setField(request, ':authority', authority)),
  ),
];

const lengths = ['-5', '+4', '0x4', '4, 4', '', ' 4', '4 ', '4.0', '04', '4a', '99999999999999999999', '-0'];
const ofLength: Mutation[] = [
  ...lengths.flatMap((value) =>
    [true, false].map((hasBody) =>
      onRequest(`content-length ${JSON.stringify(value)} ${hasBody ? 'with' : 'without'} a body`, (request) => {
        request.fields = [...request.fields.filter(([name]) => name !== 'content-length'), ['content-length', value]];
        Object.assign(request, { body: hasBody ? [Buffer.from('four')] : undefined, trailers: undefined });
        pathOf(request, '/echo');
        setField(request, ':method', 'POST');
      }),
    ),
  ),
  ...[
    { name: 'more than the body', value: 5 },
    { name: 'less than the body', value: 3 },
    { name: 'of a head that ends the stream', value: 700 },
  ].map(({ name, value }) =>
    onRequest(`content-length: ${name}`, (request) => {
      request.fields = [...request.fields.filter(([each]) => each !== 'content-length'), ['content-length', String(value)]];
      Object.assign(request, { body: value === 700 ? undefined : [Buffer.from('four')], trailers: undefined });
      pathOf(request, '/echo');
      setField(request, ':method', 'POST');
    }),
  ),
  ...(['4', '5'] as const).map((second) =>
    onRequest(`content-length: 4 and ${second}`, (request) => {
      request.fields = [
        ...request.fields.filter(([name]) => name !== 'content-length'),
        ['content-length', '4'],
        ['content-length', second],
      ];
      Object.assign(request, { body: [Buffer.from('four')], trailers: undefined });
      pathOf(request, '/echo');
      setField(request, ':method', 'POST');
    }),
  ),
];

const trailersOf = (name: string, trailers: Field[], isOpen = false): Mutation =>
  onRequest(name, (request) => {
    Object.assign(request, { body: [Buffer.from('body')], trailers, isOpen });
    request.fields = request.fields.filter(([each]) => each !== 'content-length');
    pathOf(request, '/echo');
    setField(request, ':method', 'POST');
  });
const ofTrailers: Mutation[] = [
  trailersOf('trailers', [['x-a', '1']]),
  trailersOf('trailers that do not end the stream', [['x-a', '1']], true),
  ...pseudo('GET', '/').map((field) => trailersOf(`${field[0]} in trailers`, [field])),
  trailersOf('an unknown pseudo-header in trailers', [[':foo', '1']]),
  trailersOf('a name in upper case in trailers', [['X-A', '1']]),
  trailersOf('connection in trailers', [['connection', 'x']]),
  trailersOf('a control character in trailers', [['x-a', '\0']]),
  trailersOf('content-length in trailers', [['content-length', '4']]),
  trailersOf('a wrong content-length in trailers', [['content-length', '7']]),
  trailersOf('te: gzip in trailers', [['te', 'gzip']]),
];

const sized = (name: string, type: number, stream: number, sizes: readonly number[]): Mutation[] =>
  sizes.map((size) => onConnection(`${name} of ${size} octets`, () => [spec(type, 0, stream, Buffer.alloc(size, 1))]));
const ofFrames: Mutation[] = [
  ...sized('PING', types.ping, 0, [0, 7, 9]),
  ...sized('SETTINGS', types.settings, 0, [1, 5, 7]),
  ...sized('GOAWAY', types.goAway, 0, [0, 7]),
  ...sized('PRIORITY', types.priority, idle, [0, 4, 6]),
  ...sized('WINDOW_UPDATE', types.windowUpdate, 0, [0, 3, 5]),
  ...[3, 5].map((size) =>
    behind(`RST_STREAM of ${size} octets`, 'open', (stream) => [spec(types.resetStream, 0, stream, Buffer.alloc(size))]),
  ),
  ...[3, 5].map((size) =>
    behind(`WINDOW_UPDATE of ${size} octets`, 'open', (stream) => [spec(types.windowUpdate, 0, stream, Buffer.alloc(size, 1))]),
  ),
  ...[types.data, types.headers, types.priority, types.resetStream, types.continuation, types.pushPromise].map((type) =>
    onConnection(`a frame of type ${type} on stream 0`, () => [
      spec(type, type === types.headers ? flag.endHeaders : 0, 0, type === types.headers ? block(pseudo('GET', '/')) : Buffer.alloc(5)),
    ]),
  ),
  ...[types.settings, types.ping, types.goAway].map((type) =>
    onConnection(`a frame of type ${type} on a stream`, () => [spec(type, 0, 1, Buffer.alloc(type === types.settings ? 6 : 8))]),
  ),
  onConnection('HEADERS with an even number', () =>
    headerFrames({ stream: 100, pieces: 1, padding: -1, hasPriority: false }, block(pseudo('GET', '/hang')), true),
  ),
  ...[types.data, types.resetStream, types.windowUpdate].map((type) =>
    onConnection(`a frame of type ${type} on an idle stream`, () => [spec(type, 0, idle, uint32(1))]),
  ),
  ...[types.data, types.resetStream, types.windowUpdate].map((type) =>
    onConnection(`a frame of type ${type} on an even stream`, () => [spec(type, 0, 2, uint32(1))]),
  ),
  {
    name: 'HEADERS with a lower number than before',
    apply: (script, random) => {
      const request = newRequest(random, 21, '/hang');
      Object.assign(request, { body: undefined, trailers: undefined });
      const again = newRequest(random, 19, '/hang');
      script.after = [...headerFrames(request, block(request.fields), true), ...headerFrames(again, block(again.fields), true)];
    },
  },
  onConnection('an unknown type of frame', (random) => [spec(unknown, random(256), random(200), Buffer.alloc(random(1_000)))]),
  onConnection('a frame larger than any may be', () => [spec(unknown, 0, 0, none, 256 * 1024 + 1)]),
  onConnection('PUSH_PROMISE of a client', () => [
    spec(types.pushPromise, flag.endHeaders, 1, Buffer.concat([uint32(2), block(pseudo('GET', '/'))])),
  ]),
  onConnection('a frame with the reserved bit', (random) => [spec(types.ping, 0, 0x80000000 + random(1), Buffer.alloc(8))]),
  onConnection('GOAWAY', () => [spec(types.goAway, 0, 0, uint32(0, 0))]),
  onConnection('GOAWAY with an error', () => [spec(types.goAway, 0, 0, uint32(0, 2))]),
  onConnection('PRIORITY of a stream that depends on itself', () => [spec(types.priority, 0, idle, priorityOf(idle))]),
  opening('HEADERS that depend on themselves', () => [
    spec(
      types.headers,
      flag.endHeaders | flag.endStream | flag.priority,
      idle,
      Buffer.concat([priorityOf(idle), block(pseudo('GET', '/hang'))]),
    ),
  ]),
  opening('HEADERS too short for their priority', () => [
    spec(types.headers, flag.endHeaders | flag.endStream | flag.priority, idle, Buffer.alloc(4)),
  ]),
  opening('HEADERS too short for their padding', () => [spec(types.headers, flag.endHeaders | flag.endStream | flag.padded, idle, none)]),
  opening('HEADERS with more padding than payload', () => [
    spec(
      types.headers,
      flag.endHeaders | flag.endStream | flag.padded,
      idle,
      Buffer.concat([Buffer.from([200]), block(pseudo('GET', '/hang'))]),
    ),
  ]),
  opening('HEADERS of padding alone', () => [
    spec(types.headers, flag.endHeaders | flag.endStream | flag.padded, idle, Buffer.from([2, 0, 0])),
  ]),
  opening('an unknown flag', () => [
    ...headerFrames({ stream: idle, pieces: 1, padding: -1, hasPriority: false }, block(pseudo('GET', '/hang')), true).map((each) => ({
      ...each,
      flags: each.flags | 0x42,
    })),
  ]),
];

const data = (stream: number, size = 4, flags = 0): FrameSpec => spec(types.data, flags, stream, Buffer.alloc(size, 'd'));
const again = (stream: number, endStream: boolean): FrameSpec[] =>
  headerFrames({ stream, pieces: 1, padding: -1, hasPriority: false }, block([['x-a', 'b']]), endStream);
const reset = (stream: number, code = 8): FrameSpec => spec(types.resetStream, 0, stream, uint32(code));
const update = (stream: number, by: number): FrameSpec => spec(types.windowUpdate, 0, stream, uint32(by));
const ofStates: Mutation[] = [
  behind('DATA', 'half-closed', (stream) => [data(stream)]),
  behind('DATA that ends', 'half-closed', (stream) => [data(stream, 0, flag.endStream)]),
  behind('HEADERS', 'half-closed', (stream) => again(stream, true)),
  behind('HEADERS that do not end the stream', 'open', (stream) => again(stream, false)),
  behind('HEADERS that end the stream', 'open', (stream) => again(stream, true)),
  behind('empty DATA', 'open', (stream) => [data(stream, 0), data(stream, 0), data(stream, 1)]),
  behind('DATA too short for its padding', 'open', (stream) => [spec(types.data, flag.padded, stream, none)]),
  behind('DATA with more padding than payload', 'open', (stream) => [spec(types.data, flag.padded, stream, Buffer.from([4, 1, 1]))]),
  behind('DATA of padding alone', 'open', (stream) => [spec(types.data, flag.padded, stream, Buffer.from([2, 0, 0]))]),
  behind('DATA whose padding is not zero', 'open', (stream) => [spec(types.data, flag.padded, stream, Buffer.from([2, 65, 1, 1]))]),
  behind('RST_STREAM', 'open', (stream) => [reset(stream)]),
  behind('RST_STREAM', 'half-closed', (stream) => [reset(stream, 0)]),
  behind('RST_STREAM twice', 'open', (stream) => [reset(stream), reset(stream)]),
  behind('RST_STREAM with an unknown code', 'open', (stream) => [reset(stream, 0x99999999)]),
  behind('DATA behind RST_STREAM', 'open', (stream) => [reset(stream), data(stream)]),
  behind('HEADERS behind RST_STREAM', 'open', (stream) => [reset(stream), ...again(stream, true)]),
  behind('WINDOW_UPDATE behind RST_STREAM', 'open', (stream) => [reset(stream), update(stream, 1)]),
  behind('WINDOW_UPDATE of 0', 'open', (stream) => [update(stream, 0)]),
  behind('WINDOW_UPDATE of 0', 'half-closed', (stream) => [update(stream, 0)]),
  behind('WINDOW_UPDATE beyond the limit', 'half-closed', (stream) => [update(stream, 0x7fffffff), update(stream, 0x7fffffff)]),
  behind('WINDOW_UPDATE with the reserved bit', 'half-closed', (stream) => [update(stream, 0x80000001)]),
  behind('SETTINGS that make a window too large', 'half-closed', (stream) => [
    spec(types.settings, 0, 0, settings([setting.initialWindowSize, 0]).subarray(9)),
    update(stream, 0x7fffffff),
    spec(types.settings, 0, 0, settings([setting.initialWindowSize, 0x7fffffff]).subarray(9)),
  ]),
  behind('more DATA than the window', 'open', (stream) => Array.from({ length: 5 }, () => data(stream, 65_536))),
  behind('CONTINUATION', 'open', (stream) => [spec(types.continuation, flag.endHeaders, stream, none)]),
  behind('PRIORITY', 'half-closed', (stream) => [spec(types.priority, 0, stream, priorityOf(0))]),
  onAnswered('RST_STREAM', (stream) => [reset(stream)]),
  onAnswered('WINDOW_UPDATE', (stream) => [update(stream, 1)]),
  onAnswered('WINDOW_UPDATE of 0', (stream) => [update(stream, 0)]),
  onAnswered('PRIORITY', (stream) => [spec(types.priority, 0, stream, priorityOf(0))]),
  onAnswered('DATA', (stream) => [data(stream)]),
  onAnswered('HEADERS', (stream) => again(stream, true)),
  onConnection('WINDOW_UPDATE of 0', () => [update(0, 0)]),
  onConnection('WINDOW_UPDATE of the connection beyond the limit', () => [update(0, 0x7fffffff)]),
  onConnection('WINDOW_UPDATE with the reserved bit', () => [update(0, 0x80000001)]),
];

const ofBlocks: Mutation[] = [
  withinBlock('PING', () => spec(types.ping, 0, 0, Buffer.alloc(8))),
  withinBlock('DATA', (stream) => data(stream)),
  withinBlock('an unknown frame', () => spec(unknown, 0, 0, none)),
  withinBlock('CONTINUATION of another stream', (stream) => spec(types.continuation, 0, stream + 2, none)),
  withinBlock('HEADERS', (stream) => spec(types.headers, flag.endHeaders, stream, none)),
  withinBlock('an empty CONTINUATION', (stream) => spec(types.continuation, 0, stream, none)),
  onConnection('CONTINUATION without HEADERS', () => [spec(types.continuation, flag.endHeaders, 1, none)]),
  onRequest('a header block in frames of one octet, six of them', (request) => {
    request.block = Buffer.concat([Buffer.from([0x82, 0x87, 0x84, 0x01, 0x01]), Buffer.from('a')]);
    Object.assign(request, { pieces: 6, body: undefined, trailers: undefined });
  }),
  onRequest('a header block of none', (request) => {
    request.block = none;
  }),
  ...[
    { name: 'an index of none', bytes: [0x80] },
    { name: 'an index beyond the table', bytes: [0xff, 0x80, 0x01] },
    { name: 'a number without end', bytes: [0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01] },
    { name: 'a literal that is cut off', bytes: [0x40, 0x05, 0x61] },
    { name: 'a Huffman code that is padded with zeros', bytes: [0x00, 0x01, 0x61, 0x81, 0x18] },
    { name: 'a Huffman code with the end of string', bytes: [0x00, 0x01, 0x61, 0x84, 0xff, 0xff, 0xff, 0xff] },
    { name: 'a table update in the middle', bytes: [0x20] },
  ].map(({ name, bytes }) =>
    onRequest(`HPACK: ${name}`, (request) => {
      request.block = Buffer.concat([block(request.fields), Buffer.from(bytes)]);
    }),
  ),
  ...[0, 100, 4096, 4097, 100_000].map((size) =>
    onRequest(`HPACK: a table update to ${size}`, (request) => {
      request.block = Buffer.concat([hpackInteger(0x20, 0x1f, size), block(request.fields)]);
    }),
  ),
  onRequest('HPACK: three table updates', (request) => {
    request.block = Buffer.concat([Buffer.from([0x20, 0x20, 0x3f, 0xe1, 0x1f]), block(request.fields)]);
  }),
];

const ofSettings: Mutation[] = [
  raw('SETTINGS_ENABLE_PUSH of 2', [[setting.enablePush, 2]]),
  raw('SETTINGS_INITIAL_WINDOW_SIZE at the limit', [[setting.initialWindowSize, 0x7fffffff]]),
  raw('SETTINGS_INITIAL_WINDOW_SIZE beyond the limit', [[setting.initialWindowSize, 0x80000000]]),
  raw('SETTINGS_MAX_FRAME_SIZE too small', [[setting.maxFrameSize, 16_383]]),
  raw('SETTINGS_MAX_FRAME_SIZE at the limit', [[setting.maxFrameSize, 16_777_215]]),
  raw('SETTINGS_MAX_FRAME_SIZE too large', [[setting.maxFrameSize, 16_777_216]]),
  raw('SETTINGS_HEADER_TABLE_SIZE of 0', [[setting.headerTableSize, 0]]),
  raw('SETTINGS_HEADER_TABLE_SIZE at the limit', [[setting.headerTableSize, 0xffffffff]]),
  raw('an unknown setting', [[0x99, 1]]),
  raw('a setting twice', [
    [setting.maxFrameSize, 20_000],
    [setting.maxFrameSize, 30_000],
  ]),
  raw('SETTINGS_ENABLE_CONNECT_PROTOCOL', [[8, 1]]),
  raw('no settings at all', []),
  raw(
    '99 settings',
    Array.from({ length: 99 }, () => [0x99, 1] as const),
  ),
  onConnection('SETTINGS that acknowledge something', () => [spec(types.settings, flag.ack, 0, Buffer.alloc(6))]),
  onConnection('an acknowledgement of no PING', () => [spec(types.ping, flag.ack, 0, Buffer.alloc(8))]),
  onConnection('an acknowledgement of no SETTINGS', () => [spec(types.settings, flag.ack, 0)]),
];

const ofStart: Mutation[] = [
  {
    name: 'a preface with another octet',
    apply: (script, random) => {
      script.preface = Buffer.from(script.preface);
      script.preface[random(script.preface.length)] = 0x41;
    },
  },
  {
    name: 'HTTP/1.1 instead of a preface',
    apply: (script) => {
      script.preface = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    },
  },
  {
    name: 'no SETTINGS behind the preface',
    apply: (script) => {
      script.preface = Buffer.concat([script.preface, Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0]), Buffer.alloc(8)]);
    },
  },
];

/** Changes random bytes of the requests, with unspecified faults. */
export const distortion: Mutation = {
  name: 'distorted octets',
  apply: (script, random) => {
    const changes = Array.from({ length: 1 + random(3) }, () => [random(1 << 30), random(4), random(256)] as const);
    script.distort = (bytes) => {
      let out = Buffer.from(bytes);
      for (const [place, kind, octet] of changes) {
        const at = place % Math.max(1, Math.min(out.length, 400));
        if (kind === 0) out = Buffer.concat([out.subarray(0, at), out.subarray(at + 1)]);
        else if (kind === 1) out = Buffer.concat([out.subarray(0, at), Buffer.from([octet]), out.subarray(at)]);
        else if (kind === 2) out[at] = octet;
        else out[at] = (out[at] ?? 0) ^ (1 << (octet % 8));
      }
      return out;
    };
  },
};

export const mutations: readonly Mutation[] = [
  ...ofFields,
  ...ofLength,
  ...ofTrailers,
  ...ofFrames,
  ...ofStates,
  ...ofBlocks,
  ...ofSettings,
  ...ofStart,
];

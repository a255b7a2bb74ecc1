import { readFile } from 'node:fs/promises';
import { duplicate, type FieldError, fieldPath, invalid, notSupported, type Path, required } from '#apimachinery/validation/field';
import type { EgressRoute } from '#apiserver/network/egress-selector/configured-egress';
import type { EgressType } from '#apiserver/network/egress-selector/egress-selector';
import type { HttpProxy } from '#apiserver/network/egress-selector/http-connect';
import { FieldReader, parseStructured } from './structured-file.ts';

export type EgressRoutes = ReadonlyMap<EgressType, EgressRoute>;

const protocols = ['Direct', 'HTTPConnect', 'GRPC'];
const types: readonly EgressType[] = ['cluster', 'controlplane', 'etcd'];
/** Upstream reports the same path for every selection. */
const place = fieldPath('service').child('connection');

/** Configuration of an HTTP proxy. The certificate files are read after the validation. */
interface ProxyFiles {
  readonly url: string;
  readonly caBundle: string;
  readonly clientCert: string;
  readonly clientKey: string;
  readonly serverName: string;
}
type Selection =
  | Exclude<EgressRoute, { readonly protocol: 'HTTPConnect' }>
  | { readonly protocol: 'HTTPConnect'; readonly proxy: ProxyFiles | { udsName: string } };

/**
 * Reads the file of `--egress-selector-config-file`, of kind EgressSelectorConfiguration. Rejects with all problems, one per line.
 * Upstream: apiserver/pkg/server/egressselector/config.go.
 */
export async function readEgressConfiguration(text: string): Promise<EgressRoutes> {
  const errors: FieldError[] = [];
  const fields = parseStructured(text, 'apiserver.k8s.io', 'EgressSelectorConfiguration', ['v1alpha1', 'v1beta1']);
  const root = new FieldReader(fields, undefined, errors);
  const selections = root.objects('egressSelections').map((reader) => {
    const name = reader.text('name').toLowerCase();
    const connection = reader.object('connection');
    const selection = readConnection(connection, errors);
    connection.done();
    reader.done();
    return { name, selection };
  });
  root.done();
  checkNames(
    selections.map(({ name }) => name),
    errors,
  );
  if (errors.length > 0) throw new Error(errors.map(String).join('\n'));
  const routes = new Map<EgressType, EgressRoute>();
  for (const { name, selection } of selections) if (selection) routes.set(name as EgressType, await routeOf(selection));
  return routes;
}

function checkNames(names: readonly string[], errors: FieldError[]): void {
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) < i) errors.push(duplicate(place.index(i), name));
    else if (!types.includes(name as EgressType)) errors.push(notSupported(place, name, types));
  }
}

function readConnection(reader: FieldReader, errors: FieldError[]): Selection | undefined {
  const protocol = reader.text('proxyProtocol');
  const transport = reader.has('transport') ? reader.object('transport') : undefined;
  const [tcp, uds] = ['tcp', 'uds'].map((name) => (transport?.has(name) ? transport.object(name) : undefined));
  const read = readTransport(protocol, { transport, tcp, uds }, errors);
  transport?.done();
  return read;
}

interface Transports {
  readonly transport: FieldReader | undefined;
  readonly tcp: FieldReader | undefined;
  readonly uds: FieldReader | undefined;
}

function readTransport(protocol: string, { transport, tcp, uds }: Transports, errors: FieldError[]): Selection | undefined {
  const wrong = (error: FieldError): undefined => void errors.push(error);
  if (protocol === 'Direct')
    return transport ? wrong(invalid(place.child('transport'), 'direct', 'config must be absent for direct connect')) : { protocol };
  if (protocol !== 'HTTPConnect' && protocol !== 'GRPC') return wrong(notSupported(place.child('protocol'), protocol, protocols));
  if (!transport) return wrong(required(place.child('transport'), `transport must be set for ${protocol}`));
  if (protocol === 'GRPC') {
    const udsName = uds && readUds(uds, errors);
    return uds
      ? udsName === undefined
        ? undefined
        : { protocol, udsName }
      : wrong(required(place.child('uds'), 'UDS must be set with GRPC'));
  }
  if (tcp && uds) return wrong(invalid(place.child('tcp'), tcp.text('url'), 'TCP and UDS cannot both be set'));
  if (tcp) {
    const proxy = readTcp(tcp, errors);
    return proxy && { protocol, proxy };
  }
  if (!uds) return wrong(required(place.child('tcp'), 'One of TCP or UDS must be set'));
  const udsName = readUds(uds, errors);
  return udsName === undefined ? undefined : { protocol, proxy: { udsName } };
}

function readUds(reader: FieldReader, errors: FieldError[]): string | undefined {
  const name = reader.text('udsName');
  reader.done();
  if (name === '') errors.push(invalid(place.child('udsName'), 'nil', 'must be present for UDS connections'));
  return name === '' ? undefined : name;
}

function readTcp(reader: FieldReader, errors: FieldError[]): ProxyFiles | undefined {
  const url = reader.text('url');
  const hasTls = reader.has('tlsConfig');
  const tls = reader.object('tlsConfig');
  const files = {
    url,
    caBundle: tls.text('caBundle'),
    clientCert: tls.text('clientCert'),
    clientKey: tls.text('clientKey'),
    serverName: tls.text('tlsServerName'),
  };
  tls.done();
  reader.done();
  const before = errors.length;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    errors.push(invalid(place.child('url'), url, 'supported connection protocols are http:// and https://'));
  else if (url.startsWith('http://')) {
    if (hasTls) errors.push(invalid(place.child('tlsConfig'), 'nil', 'config must not be present when using HTTP'));
  } else if (!hasTls) errors.push(required(place.child('tlsConfig'), 'TLSConfig must be present when using HTTPS'));
  else {
    const at = (name: string): Path => place.child('tlsConfig').child(name);
    if (files.clientCert === '') errors.push(invalid(at('clientCert'), 'nil', 'Using TLS requires clientCert'));
    if (files.clientKey === '') errors.push(invalid(at('clientKey'), 'nil', 'Using TLS requires requires clientKey'));
  }
  return errors.length > before ? undefined : files;
}

async function routeOf(selection: Selection): Promise<EgressRoute> {
  if (selection.protocol !== 'HTTPConnect') return selection;
  const { proxy } = selection;
  return { protocol: 'HTTPConnect', proxy: 'udsName' in proxy ? proxy : await proxyOf(proxy) };
}

async function proxyOf({ url, caBundle, clientCert, clientKey, serverName }: ProxyFiles): Promise<HttpProxy> {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === 'https:';
  const endpoint = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? (isSecure ? 443 : 80) : Number(port) };
  if (!isSecure) return { endpoint, tls: undefined };
  // The files are read sequentially, so that the first missing one is reported.
  const ca = caBundle === '' ? undefined : await contentOf('caBundle', caBundle, 'TLS config ca bundle does not exist');
  const cert = await contentOf('clientCert', clientCert, 'TLS client cert does not exist');
  const key = await contentOf('clientKey', clientKey, 'TLS client key does not exist');
  return { endpoint, tls: { cert, key, ...(ca !== undefined && { ca }), ...(serverName !== '' && { servername: serverName }) } };
}

async function contentOf(name: string, file: string, problem: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(String(invalid(place.child('tlsConfig').child(name), file, problem)), { cause });
  });
}

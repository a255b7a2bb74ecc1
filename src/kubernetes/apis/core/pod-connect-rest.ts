import { Buffer } from 'node:buffer';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { newBadRequest, newGenericServerResponse, newInternalError, newInvalid, newStatus, StatusError } from '#apimachinery/api/errors';
import { quote } from '#apimachinery/runtime/quote';
import { canonicalTime, TimeParseError } from '#apimachinery/runtime/time';
import { type FieldError, fieldPath, forbidden, invalid, notSupported } from '#apimachinery/validation/field';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { authorizationAttributes, forbiddenError } from '#apiserver/authorization/authorization.guard';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { dialErrorText } from '#apiserver/endpoints/handlers/dial-error';
import { checkRoute, negotiate } from '#apiserver/endpoints/handlers/negotiation';
import { proxyRequest } from '#apiserver/endpoints/handlers/proxy';
import { parseBoolean, parseInt64 } from '#apiserver/request/list-options';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import { respondBytes, sendOn, startHeaders } from '#apiserver/endpoints/handlers/responses';
import { acceptWebSocket, agreeToRead, isWebSocketRequest } from '#apiserver/endpoints/handlers/websocket';
import type { ResponseStream } from '#apiserver/request/exchange';
import type { RequestContext } from '#apiserver/request/request-context';
import { answerOf, headLimits } from '#apiserver/network/answer-of';
import { agentOf } from '#apiserver/network/egress-selector/dialing-agent';
import type { Container, Pod } from '#kubernetes/schema/core_v1.gen';
import { admitConnect } from './connect.ts';
import { KubeletConnections, type KubeletLocation } from './kubelet-connection.ts';

/** Maximum length of a kubelet's error text. Upstream: registry/generic/rest/response_checker.go. */
const maxErrorBytes = 50_000;

async function podOf({ info }: RequestContext, endpoint: ResourceEndpoint): Promise<Pod> {
  return (await endpoint.store.get(info.namespace, info.name, '')).object as Pod;
}

function containersOf({ spec = {} }: Pod): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...((spec.ephemeralContainers ?? []) as Container[])];
}

/** Returns the requested container, or the only one. Throws BadRequest. */
function containerOf(pod: Pod, asked: string): string {
  const name = pod.metadata.name ?? '';
  if (asked !== '') {
    if (!containersOf(pod).some((container) => container.name === asked))
      throw newBadRequest(`container ${asked} is not valid for pod ${name}`);
    return asked;
  }
  const containers = pod.spec?.containers ?? [];
  if (containers.length === 1) return containers[0]?.name ?? '';
  const choices =
    containers.length === 0
      ? ''
      : `, choose one of: [${containersOf(pod)
          .map((container) => container.name)
          .join(' ')}]`;
  throw newBadRequest(`a container name must be specified for pod ${name}${choices}`);
}

interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceSeconds: number | undefined;
  readonly sinceTime: string | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: string | undefined;
  readonly insecureSkipTLSVerifyBackend: boolean;
}

function logOptions({ searchParams: query }: RequestContext): LogOptions {
  const flag = (name: string): boolean => parseBoolean(query.get(name)) ?? false;
  const number = (name: string): number | undefined => parseInt64(query.get(name));
  return {
    container: query.get('container') ?? '',
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    sinceSeconds: number('sinceSeconds'),
    sinceTime: timeOf(query.get('sinceTime')),
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
    stream: query.get('stream') ?? undefined,
    insecureSkipTLSVerifyBackend: flag('insecureSkipTLSVerifyBackend'),
  };
}

function timeOf(text: string | null): string | undefined {
  if (!text) return undefined;
  try {
    return canonicalTime(text);
  } catch (error) {
    if (error instanceof TimeParseError) throw newBadRequest(error.message);
    throw error;
  }
}

const logStreams = ['All', 'Stderr', 'Stdout'];

/**
 * Validates the options of a log request. `splits`: the feature gate PodLogsQuerySplitStreams. Upstream:
 * kubernetes/pkg/apis/core/validation (ValidatePodLogOptions).
 */
function validateLogOptions({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: LogOptions, splits: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0)
    errors.push(invalid(fieldPath('tailLines'), tailLines, 'must be greater than or equal to 0'));
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalid(fieldPath('limitBytes'), limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbidden(fieldPath('[]'), 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid(fieldPath('sinceSeconds'), sinceSeconds, 'must be greater than 0'));
  }
  if (stream === undefined) return errors;
  if (!splits) return [...errors, forbidden(fieldPath('stream'), 'may not be specified')];
  if (!logStreams.includes(stream)) errors.push(notSupported(fieldPath('stream'), stream, logStreams));
  if (stream !== 'All' && tailLines !== undefined)
    errors.push(forbidden(fieldPath('[]'), '`tailLines` and specific `stream` are mutually exclusive for now'));
  return errors;
}

/** Encodes a query in order of the names, as Go does. */
function encodeQuery(parameters: readonly (readonly [name: string, value: string | number | boolean | undefined])[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of parameters) if (value !== undefined && value !== false) query.append(name, String(value));
  query.sort();
  return query.toString();
}

/**
 * Returns a container's log from its kubelet; an empty log while the pod has no node. Upstream:
 * kubernetes/pkg/registry/core/pod/rest/log.go.
 */
@Injectable()
export class PodLogHandler {
  constructor(@Inject(KubeletConnections) private readonly kubelets: KubeletConnections) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { namespace, name } = context.info;
    const accept = context.header('accept');
    checkRoute(accept, ['text/plain', ...endpoint.restrictions.mediaTypes]);
    const { convert } = negotiate(accept, { ...endpoint.restrictions, isRouted: false });
    const options = logOptions(context);
    const splits = endpoint.isEnabled('PodLogsQuerySplitStreams');
    const errors = validateLogOptions(options, splits);
    if (errors.length > 0) throw newInvalid({ group: '', kind: 'PodLogOptions' }, name, errors);
    const pod = await podOf(context, endpoint);
    const container = containerOf(pod, options.container);
    // A log has no metadata, the only form to which a media type may convert it.
    if (convert) throw new StatusError(newStatus(500, '', 'object does not implement the Object interfaces'));
    const node = pod.spec?.nodeName;
    if (!node) return respondBytes(context, 204, undefined, undefined);
    const kubelet = await this.kubelets.locate(node, 'pods', options.insecureSkipTLSVerifyBackend);
    const { follow, previous, timestamps, sinceSeconds, sinceTime, tailLines, limitBytes } = options;
    const query = encodeQuery([
      ['follow', follow],
      ['previous', previous],
      ['timestamps', timestamps],
      ['sinceSeconds', sinceSeconds],
      ['sinceTime', sinceTime],
      ['tailLines', tailLines],
      ['limitBytes', limitBytes],
      ['stream', splits ? (options.stream ?? 'All') : undefined],
    ]);
    await stream(context, kubelet, `/containerLogs/${namespace}/${name}/${container}${query && `?${query}`}`);
  }
}

/** Forwards the kubelet's response to a GET; kubelet errors become errors of the server. */
async function stream(context: RequestContext, { secure, host, port, tls, dial }: KubeletLocation, path: string): Promise<void> {
  const { exchange, info } = context;
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const request = (secure ? https : http).request({
    host,
    port,
    path,
    ...headLimits,
    ...tls,
    ...servername,
    ...(dial && { agent: agentOf(dial, secure, {}) }),
  });
  exchange.onClose(() => request.destroy());
  request.end();
  const { response } = await answerOf(request).catch((error: Error) => {
    const url = `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
    throw new StatusError(newStatus(500, '', `Get ${JSON.stringify(url)}: ${dialErrorText(error)}`));
  });
  const status = response.statusCode ?? 500;
  if (status < 200 || status > 206) throw await kubeletError(response, status, info.name);
  const out = openLog(context);
  if (out) sendOn(response, out);
  else response.destroy();
}

/**
 * Opens the response stream. Returns undefined after a malformed WebSocket request. Upstream: endpoints/handlers/responsewriters/writers.go
 * (StreamObject).
 */
function openLog(context: RequestContext): ResponseStream | undefined {
  if (!isWebSocketRequest(context)) return context.exchange.open(200, startHeaders(context, 200, 'text/plain'));
  const out = acceptWebSocket(context, agreeToRead);
  // An empty message signals the start of the stream.
  out?.write(Buffer.alloc(0));
  return out;
}

async function kubeletError(response: http.IncomingMessage, status: number, name: string): Promise<StatusError> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= maxErrorBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, maxErrorBytes).toString('utf8');
  if (status === 500) return newInternalError(text);
  if (status === 400) return newBadRequest(text);
  return newGenericServerResponse(status, '', { group: '', resource: 'pods/log' }, name, text, 0, false);
}

/** Requires the verb `create` for `exec`, `attach` and `portforward`, since a WebSocket request is a GET. */
async function ensureMayCreate(context: RequestContext, { isEnabled }: ResourceEndpoint, authorizer: UnionAuthorizer): Promise<void> {
  if (context.info.verb === 'create' || !isEnabled('AuthorizePodWebsocketUpgradeCreatePermission')) return;
  const attributes = { ...authorizationAttributes(context), verb: 'create' };
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'Allow') throw forbiddenError(attributes, reason);
}

/** Returns the kubelet of the pod's node. Throws BadRequest if the pod has no node. */
async function kubeletOf(kubelets: KubeletConnections, { metadata, spec }: Pod): Promise<KubeletLocation> {
  if (!spec?.nodeName) throw newBadRequest(`pod ${metadata.name} does not have a host assigned`);
  return kubelets.locate(spec.nodeName, 'pods');
}

/** Proxies streams to a process in a container. Upstream: kubernetes/pkg/registry/core/pod/rest/subresources.go. */
abstract class ContainerStreamHandler {
  constructor(
    private readonly kubelets: KubeletConnections,
    private readonly authorizer: UnionAuthorizer,
    private readonly path: 'exec' | 'attach',
  ) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { searchParams: query, info } = context;
    const flag = (name: string, otherwise: boolean): boolean => parseBoolean(query.get(name)) ?? otherwise;
    const options = {
      stdin: flag('stdin', false),
      stdout: flag('stdout', true),
      stderr: flag('stderr', true),
      tty: flag('tty', false),
      container: query.get('container') ?? '',
      ...(this.path === 'exec' && { command: query.getAll('command') }),
    };
    await admitConnect(context, endpoint, options);
    await ensureMayCreate(context, endpoint, this.authorizer);
    const pod = await podOf(context, endpoint);
    const container = containerOf(pod, options.container);
    const kubelet = await kubeletOf(this.kubelets, pod);
    const one = (is: boolean): number | undefined => (is ? 1 : undefined);
    const parameters: [string, string | number | undefined][] = [
      ['input', one(options.stdin)],
      ['output', one(options.stdout)],
      ['error', one(options.stderr)],
      ['tty', one(options.tty)],
    ];
    for (const command of options.command ?? []) parameters.push(['command', command]);
    await proxyRequest(
      context,
      { ...kubelet, path: `/${this.path}/${info.namespace}/${info.name}/${container}`, query: encodeQuery(parameters) },
      true,
    );
  }
}

@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class PodExecHandler extends ContainerStreamHandler {
  constructor(@Inject(KubeletConnections) kubelets: KubeletConnections, @Inject(UnionAuthorizer) authorizer: UnionAuthorizer) {
    super(kubelets, authorizer, 'exec');
  }
}

@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class PodAttachHandler extends ContainerStreamHandler {
  constructor(@Inject(KubeletConnections) kubelets: KubeletConnections, @Inject(UnionAuthorizer) authorizer: UnionAuthorizer) {
    super(kubelets, authorizer, 'attach');
  }
}

/** Reads a port as Go does. Upstream: apimachinery/pkg/runtime/conversion.go (Convert_Slice_string_To_Slice_int32). */
function portNumber(text: string): number {
  const failed = (problem: string): StatusError =>
    newBadRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${problem}`);
  if (!/^\d+$/.test(text)) throw failed('invalid syntax');
  if (Number(text) > 0x7fff_ffff) throw failed('value out of range');
  return Number(text);
}

/** Proxies streams to the ports of a pod. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class PodPortForwardHandler {
  constructor(
    @Inject(KubeletConnections) private readonly kubelets: KubeletConnections,
    @Inject(UnionAuthorizer) private readonly authorizer: UnionAuthorizer,
  ) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { namespace, name } = context.info;
    const ports = context.searchParams.getAll('ports').map(portNumber);
    await admitConnect(context, endpoint, ports.length > 0 ? { ports } : {});
    await ensureMayCreate(context, endpoint, this.authorizer);
    const kubelet = await kubeletOf(this.kubelets, await podOf(context, endpoint));
    await proxyRequest(
      context,
      { ...kubelet, path: `/portForward/${namespace}/${name}`, query: ports.length > 0 ? encodeQuery([['port', ports.join(',')]]) : '' },
      true,
    );
  }
}

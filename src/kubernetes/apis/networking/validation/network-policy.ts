/** Validation of network policies. Upstream: pkg/apis/networking/validation/validation.go. */
import {
  addErrors,
  type FieldError,
  type Path,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '#apimachinery/validation/field';
import { getWarningsForCIDR, parseCIDRSloppy } from '#apimachinery/validation/ip';
import { isValidPortName, isValidPortNum } from '#apimachinery/validation/names';
import { errorsOfEach } from '#apimachinery/validation/pausing';
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { check, validateCIDR } from '#kubernetes/apis/core/validation/checks';
import { validateSelector } from '#kubernetes/apis/pod-template';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '#kubernetes/schema/networking_v1.gen';

const specPath = fieldPath('spec');
const noSpec: NetworkPolicySpec = {};

/** Properties of the stored policy that stay valid. */
interface Allowed {
  readonly invalidLabelValues: boolean;
  readonly cidrs: ReadonlySet<string>;
  readonly server: ServerTraits;
}

export function validateNetworkPolicy({ spec = noSpec }: NetworkPolicy, server: ServerTraits): FieldError[] {
  return validateSpec(spec, { invalidLabelValues: false, cidrs: new Set(), server });
}

export function validateNetworkPolicyUpdate(
  { spec = noSpec }: NetworkPolicy,
  { spec: old = noSpec }: NetworkPolicy,
  server: ServerTraits,
): FieldError[] {
  const ofSelector: FieldError[] = [];
  validateSelector(ofSelector, old.podSelector, specPath);
  const peers = [...(old.ingress ?? []).flatMap(({ from = [] }) => from), ...(old.egress ?? []).flatMap(({ to = [] }) => to)];
  const cidrs = peers.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr ?? '', ...(ipBlock.except ?? [])] : []));
  return validateSpec(spec, { invalidLabelValues: ofSelector.length > 0, cidrs: new Set(cidrs), server });
}

/** Warnings about non-canonical address blocks. Upstream: pkg/registry/networking/networkpolicy/strategy.go. */
export function networkPolicyWarnings({ spec = noSpec }: NetworkPolicy): string[] {
  const ingress = (spec.ingress ?? []).flatMap(({ from = [] }, i) => peerWarnings(from, specPath.child('ingress').index(i).child('from')));
  const egress = (spec.egress ?? []).flatMap(({ to = [] }, i) => peerWarnings(to, specPath.child('egress').index(i).child('to')));
  return [...ingress, ...egress];
}

function peerWarnings(peers: readonly NetworkPolicyPeer[], path: Path): string[] {
  return peers.flatMap(({ ipBlock }, i) => {
    if (!ipBlock) return [];
    const at = path.index(i).child('ipBlock');
    const exceptions = (ipBlock.except ?? []).flatMap((cidr, k) => getWarningsForCIDR(at.child('except').index(k), cidr));
    return [...getWarningsForCIDR(at.child('cidr'), ipBlock.cidr ?? ''), ...exceptions];
  });
}

function validateSpec(spec: NetworkPolicySpec, allowed: Allowed): FieldError[] {
  const errors: FieldError[] = [];
  validateSelector(errors, spec.podSelector, specPath.child('podSelector'), allowed.invalidLabelValues);
  const { ingress = [], egress = [] } = spec;
  const ofIngress = errorsOfEach(ingress, specPath, ingress, (found, { ports, from }, i) =>
    validateRule(found, ports, from, 'from', specPath.child('ingress').index(i), allowed),
  );
  addErrors(errors, ofIngress);
  const ofEgress = errorsOfEach(egress, specPath, egress, (found, { ports, to }, i) =>
    validateRule(found, ports, to, 'to', specPath.child('egress').index(i), allowed),
  );
  addErrors(errors, ofEgress);
  const { policyTypes = [] } = spec;
  if (policyTypes.length > 2) {
    errors.push(invalid(specPath.child('policyTypes'), policyTypes, 'may not specify more than two policyTypes'));
    return errors;
  }
  for (const [i, type] of policyTypes.entries()) {
    if (type !== 'Ingress' && type !== 'Egress')
      errors.push(notSupported(specPath.child('policyTypes').index(i), type, ['Ingress', 'Egress']));
  }
  return errors;
}

function validateRule(
  errors: FieldError[],
  ports: readonly NetworkPolicyPort[] = [],
  peers: readonly NetworkPolicyPeer[] = [],
  field: string,
  path: Path,
  allowed: Allowed,
): void {
  const ofPorts = errorsOfEach(ports, path, ports, (found, port, i) => validatePort(found, port, path.child('ports').index(i)));
  addErrors(errors, ofPorts);
  const ofPeers = errorsOfEach(peers, path, peers, (found, peer, i) => validatePeer(found, peer, path.child(field).index(i), allowed));
  addErrors(errors, ofPeers);
}

function validatePort(errors: FieldError[], { protocol, port, endPort }: NetworkPolicyPort, path: Path): void {
  const protocols = ['TCP', 'UDP', 'SCTP'];
  if (protocol !== undefined && !protocols.includes(protocol)) errors.push(notSupported(path.child('protocol'), protocol, protocols));
  if (typeof port === 'number') {
    check(errors, isValidPortNum(port), port, path, 'port');
    if (endPort === undefined) return;
    // As upstream, the message shows the port instead of endPort.
    if (endPort < port) errors.push(invalid(path.child('endPort'), port, 'must be greater than or equal to `port`'));
    check(errors, isValidPortNum(endPort), endPort, path, 'endPort');
    return;
  }
  if (endPort !== undefined)
    errors.push(
      invalid(
        path.child('endPort'),
        endPort,
        `may not be specified when \`port\` is ${port === undefined ? 'not specified' : 'non-numeric'}`,
      ),
    );
  if (port !== undefined) check(errors, isValidPortName(port), port, path, 'port');
}

function validatePeer(
  errors: FieldError[],
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  path: Path,
  allowed: Allowed,
): void {
  validateSelector(errors, podSelector, path.child('podSelector'), allowed.invalidLabelValues);
  validateSelector(errors, namespaceSelector, path.child('namespaceSelector'), allowed.invalidLabelValues);
  if (ipBlock) validateIPBlock(errors, ipBlock, path.child('ipBlock'), allowed);
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(path, 'must specify a peer'));
  else if (ipBlock && (podSelector || namespaceSelector)) errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
}

function validateIPBlock(errors: FieldError[], { cidr = '', except = [] }: IPBlock, path: Path, { cidrs, server }: Allowed): void {
  if (cidr === '') {
    errors.push(required(path.child('cidr')));
    return;
  }
  validateCIDR(errors, cidr, path.child('cidr'), server, cidrs);
  const outer = parseCIDRSloppy(cidr);
  if (!outer) return;
  for (const [i, text] of except.entries()) {
    validateCIDR(errors, text, path.child('except').index(i), server, cidrs);
    const inner = parseCIDRSloppy(text);
    if (inner && !isStrictSubset(inner, outer))
      errors.push(invalid(path.child('except').index(i), text, 'must be a strict subset of `cidr`'));
  }
}

type Cidr = NonNullable<ReturnType<typeof parseCIDRSloppy>>;

function isStrictSubset(inner: Cidr, outer: Cidr): boolean {
  if (inner.bytes.length !== outer.bytes.length || outer.prefix >= inner.prefix) return false;
  for (let bit = 0; bit < outer.prefix; bit++) {
    const at = bit >> 3;
    if ((((inner.bytes[at] ?? 0) ^ (outer.bytes[at] ?? 0)) >> (7 - (bit & 7))) & 1) return false;
  }
  return true;
}

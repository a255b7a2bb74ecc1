import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { fingerprintOf } from '#apimachinery/x509/certificate';
import { parseCertificateBundle } from '#apimachinery/x509/certificate-pool';
import { pemOf } from '#apimachinery/x509/pem';
import type { RequestHeaderInfo } from './control-plane-options.ts';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';

const configMaps: LoopbackTarget = { group: '', version: 'v1', resource: 'configmaps' };
const namespace = 'kube-system';
const name = 'extension-apiserver-authentication';
const uidKey = 'requestheader-uid-headers';
/** Tolerance for clock skew. */
const expirySlackMs = 5 * 60_000;

export interface ClusterAuthenticationInfo {
  /** CA bundle for client certificates, in PEM. */
  readonly clientCa: string | undefined;
  readonly requestHeader: RequestHeaderInfo | undefined;
  /** False: the headers of UIDs are left out. Default: true. */
  readonly namesUids?: boolean;
}

type Data = Readonly<Record<string, string>>;

/**
 * Publishes in kube-system how extension API servers authenticate requests. Data of other servers of the cluster is kept; expired
 * certificates are dropped. Upstream: controlplane/controller/clusterauthenticationtrust.
 */
export async function publishClusterAuthenticationInfo(
  client: LoopbackClient,
  info: ClusterAuthenticationInfo,
  now: number,
): Promise<void> {
  if (!client.peek(configMaps, namespace, name)) {
    await client.ensure(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: mergeAuthenticationInfo({}, info, now),
    });
    return;
  }
  await client.update(configMaps, namespace, name, (object) => {
    const present = (object['data'] ?? {}) as Data;
    const data = mergeAuthenticationInfo(present, info, now);
    return deepEqual(data, present) ? undefined : ({ ...object, data } as KubeObject);
  });
}

/** Merges the data. Throws if a stored list is malformed. */
export function mergeAuthenticationInfo(
  present: Data,
  { clientCa, requestHeader, namesUids = true }: ClusterAuthenticationInfo,
  now: number,
): Data {
  const data: Record<string, string> = {};
  const authorities = mergeCertificates(present['client-ca-file'], clientCa, now);
  if (authorities) data['client-ca-file'] = authorities;
  const proxies = mergeCertificates(present['requestheader-client-ca-file'], requestHeader?.clientCa, now);
  if (!proxies) return data;
  const lists = {
    'requestheader-username-headers': requestHeader?.usernameHeaders,
    [uidKey]: requestHeader?.uidHeaders,
    'requestheader-group-headers': requestHeader?.groupHeaders,
    'requestheader-extra-headers-prefix': requestHeader?.extraHeaderPrefixes,
    'requestheader-allowed-names': requestHeader?.allowedNames,
  };
  for (const [key, own = []] of Object.entries(lists)) {
    if (key === uidKey && !namesUids) continue;
    const merged = [...new Set([...(JSON.parse(present[key] || '[]') as string[]), ...own])];
    if (merged.length > 0 || key !== uidKey) data[key] = JSON.stringify(merged);
  }
  data['requestheader-client-ca-file'] = proxies;
  return data;
}

/** Returns the unexpired certificates of both bundles without duplicates; empty if there is none. */
function mergeCertificates(present: string | undefined, own: string | undefined, now: number): string {
  const certificates = new Map<string, string>();
  for (const bundle of [present, own]) {
    for (const certificate of bundle ? parseCertificateBundle(bundle) : [])
      if (certificate.notAfter > now - expirySlackMs) certificates.set(fingerprintOf(certificate), pemOf('CERTIFICATE', certificate.der));
  }
  return [...certificates.values()].join('');
}

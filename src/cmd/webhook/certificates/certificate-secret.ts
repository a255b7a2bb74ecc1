import { Buffer } from 'node:buffer';
import { isAlreadyExists, isConflict } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Logger } from '#apiserver/base/logger';
import type { ClusterApi } from '../cluster/cluster-api.ts';
import { ClusterInformer } from '../cluster/cluster-informer.ts';
import { type CertificateData, renewed } from './certificate-data.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' };
/** Interval of the check whether the certificates have to be renewed. */
const checkMs = 600_000;
const attempts = 5;

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface CertificateSecretOptions {
  readonly namespace: string;
  readonly name: string;
  /** Names of the serving certificate. */
  readonly hosts: readonly string[];
  readonly logger: Logger;
}

/** Serving certificates in a Secret that all replicas share. The first replica creates them, and any replica renews them. */
export class CertificateSecret implements Disposable {
  #current: CertificateData | undefined;
  #informer: ClusterInformer<Secret> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly api: ClusterApi,
    private readonly options: CertificateSecretOptions,
  ) {}

  /** Returns the certificates after the necessary changes. Rejects if the Secret cannot be read or written. */
  async renew(): Promise<CertificateData> {
    const { namespace, name, hosts } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      const secret = (await this.api.client.get(secrets, namespace, name)) as Secret | undefined;
      const data = secret && dataOf(secret);
      const next = await renewed(data, hosts);
      if (next === data) return (this.#current = next);
      try {
        await (secret
          ? this.api.client.replace(secrets, { ...secret, data: encoded(next) } as Secret)
          : this.api.client.create(secrets, newSecret(namespace, name, next)));
        this.options.logger.info({ namespace, secret: name }, 'serving certificates renewed');
        return (this.#current = next);
      } catch (error) {
        if (attempt === attempts || !(isConflict(error) || isAlreadyExists(error))) throw error;
      }
    }
  }

  /** Calls `onChange` with the certificates whenever another replica, or this one, has changed them. */
  follow(onChange: (data: CertificateData) => void): void {
    const { namespace, name, logger } = this.options;
    let known = JSON.stringify(this.#current);
    const changed = (data: CertificateData): void => {
      if (JSON.stringify(data) === known) return;
      known = JSON.stringify(data);
      onChange(data);
    };
    const failed = (error: Error): void =>
      logger.warn({ namespace, secret: name, reason: error.message }, 'cannot follow the serving certificates; trying again');
    const renew = (): void => void this.renew().then(changed, failed);
    const path = (): Promise<string> => Promise.resolve(`/api/v1/namespaces/${namespace}/secrets`);
    this.#informer = new ClusterInformer<Secret>(this.api, { path, fieldSelector: `metadata.name=${name}` }, failed);
    this.#informer.subscribe((type, secret) => {
      const data = type === 'DELETED' ? undefined : dataOf(secret);
      if (data) changed(data);
      else renew();
    });
    this.#timer = setInterval(renew, checkMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#informer?.[Symbol.dispose]();
  }
}

function newSecret(namespace: string, name: string, data: CertificateData): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, type: 'kubernetes.io/tls', data: encoded(data) } as Secret;
}

function encoded({ authorities, authorityKey, next, serving }: CertificateData): Record<string, string> {
  const texts = {
    'ca.crt': authorities.join(''),
    'ca.key': authorityKey,
    'tls.crt': serving.cert,
    'tls.key': serving.key,
    ...(next && { 'next-ca.crt': next.cert, 'next-ca.key': next.key }),
  };
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

/** Returns the certificates of a Secret; undefined if a part is missing. */
function dataOf({ data = {} }: Secret): CertificateData | undefined {
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const authorities = text('ca.crt').match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g) ?? [];
  const authorityKey = text('ca.key');
  const serving = { cert: text('tls.crt'), key: text('tls.key') };
  if (authorities.length === 0 || [authorityKey, serving.cert, serving.key].includes('')) return undefined;
  const next = { cert: text('next-ca.crt'), key: text('next-ca.key') };
  return { authorities, authorityKey, serving, ...(next.cert !== '' && next.key !== '' && { next }) };
}

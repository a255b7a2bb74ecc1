import { Buffer } from 'node:buffer';
import { stringify } from 'yaml';
import { readText } from '#apiserver/base/system-error';
import { exceptionDefinitions } from '#apiserver/plugins/policy/exception-definitions';
import { readWebhookFile } from '../webhook-configuration.ts';
import { knownScheme } from '#cmd/apis/known-scheme';
import { refuseUseless } from '#cmd/apis/useless-plugins';
import { deploymentObjects, labelsOf } from './deployment.ts';
import { imageConfiguration } from './image-configuration.ts';
import { recordPlugins } from './recorded-plugins.ts';
import { webhookConfigurations } from './webhook-configurations.ts';

/** Options of `kubenest webhook manifests`. */
export interface ManifestOptions {
  readonly config: string;
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  /** Namespaces whose requests do not reach the webhooks, besides the server's own. */
  readonly excludeNamespace: readonly string[];
  /** URL of a server outside of the cluster: only the webhook configurations are printed. */
  readonly url?: string;
  /** File of the authorities that signed the serving certificate, PEM. Default: the server sets `caBundle`. */
  readonly caFile?: string;
}

/** Returns the YAML of all objects that serve the packages of a configuration as webhooks. */
export async function webhookManifests(options: ManifestOptions): Promise<string> {
  const { config, name, namespace, image, replicas, url, caFile } = options;
  const { plugins: packages, contributions } = await readWebhookFile(config);
  const scheme = knownScheme();
  refuseUseless(contributions, scheme);
  const { plugins, followed } = recordPlugins(contributions, packages);
  const authorities = caFile === undefined ? undefined : Buffer.from(await readText(caFile)).toString('base64');
  const trust = authorities === undefined ? {} : { caBundle: authorities };
  const configurations = webhookConfigurations(plugins, scheme, {
    name,
    labels: labelsOf(name),
    // The pods of the server itself must start while no replica answers.
    excludedNamespaces: [...new Set([...(url === undefined ? [namespace] : []), ...options.excludeNamespace])],
    clientConfig: (path) =>
      url === undefined
        ? { service: { name, namespace, path, port: 443 }, ...trust }
        : { url: `${url.replace(/\/$/, '')}${path}`, ...trust },
  });
  const configuration = imageConfiguration(await readText(config), contributions);
  const deployment = url === undefined ? deploymentObjects({ name, namespace, image, replicas, followed, configuration }) : [];
  return [...exceptionDefinitions(), ...deployment, ...configurations]
    .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

import 'reflect-metadata';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admissionPlugins } from '#cmd/builtin-plugins';
import { readAdmissionConfiguration } from './admission-configuration.ts';

let folder: string;
/** Enabled features. */
const features = new Set<string>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-admission-'));
  await writeFile(
    join(folder, 'events.yaml'),
    'apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\nlimits: [{ type: Server, qps: 5, burst: 10 }]\n',
  );
});
afterAll(() => rm(folder, { recursive: true }));

async function read(text: string): Promise<Map<string, object>> {
  const file = join(folder, 'admission.yaml');
  await writeFile(file, text);
  return readAdmissionConfiguration(file, admissionPlugins, { enabled: (name) => features.has(name) });
}
const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n';
const podSecurity = (rest: string) =>
  `${head}- name: PodSecurity\n  configuration: { apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, ${rest} }\n`;

describe('readAdmissionConfiguration', () => {
  it('reads inline configurations and files, and omits plugins without a configuration', async () => {
    const found = await read(
      `${podSecurity('defaults: { enforce: baseline }')}- { name: EventRateLimit, path: events.yaml }\n- name: AlwaysAdmit\n`,
    );
    expect([...found.keys()]).toEqual(['PodSecurity', 'EventRateLimit']);
    expect(found.get('PodSecurity')).toMatchObject({
      defaults: { enforce: 'baseline', audit: 'privileged' },
      exemptions: { namespaces: [] },
    });
    expect(found.get('EventRateLimit')).toMatchObject({ limits: [{ type: 'Server', qps: 5, burst: 10 }] });
  });

  it('reads a whole file as the configuration of an old plugin', async () => {
    const found = await read('podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: a=b }\n');
    expect(found.get('PodNodeSelector')).toMatchObject({ podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b' } });
  });

  it.each([
    ['another kind', 'apiVersion: v1\nkind: List\n', /no kind "List" is registered for version "v1"/],
    ['an unknown plugin', `${head}- name: PodSecurty\n`, /plugins\[0\].name: unknown admission plugin "PodSecurty"/],
    ['a plugin twice', `${podSecurity('')}- { name: PodSecurity, configuration: {} }\n`, /PodSecurity is configured twice/],
    ['a plugin without configuration', `${head}- { name: Priority, configuration: {} }\n`, /Priority takes no configuration/],
    [
      'an invalid level',
      podSecurity('defaults: { enforce: much }'),
      /configuration.defaults.enforce: must be one of privileged, baseline, restricted/,
    ],
    ...(
      [
        ['an empty user name', 'usernames: [""]', /exemptions.usernames: must not hold empty names/],
        ['a user name twice', 'usernames: [a, b, a]', /exemptions.usernames: must not repeat an element/],
        ['an invalid namespace name', 'namespaces: [kube-system, a.b]', /exemptions.namespaces: must be names of namespaces/],
        ['a namespace twice', 'namespaces: [a, a]', /exemptions.namespaces: must not repeat an element/],
        ['an invalid runtime class name', 'runtimeClasses: [a.b, C]', /exemptions.runtimeClasses: must be names of runtime classes/],
        ['a value that is not a list', 'namespaces: kube-system', /exemptions.namespaces/],
      ] as const
    ).map(([what, exemption, problem]): [string, string, RegExp] => [what, podSecurity(`exemptions: { ${exemption} }`), problem]),
    ['an unknown member', podSecurity('defaults: { enfroce: baseline }'), /configuration.defaults.enfroce is unknown/],
    [
      'a configuration of another kind',
      `${head}- { name: PodSecurity, configuration: { apiVersion: v1, kind: Pod } }\n`,
      /no kind "Pod" is registered for version "v1"/,
    ],
    [
      'a toleration with an unknown effect',
      `${head}- { name: PodTolerationRestriction, configuration: { apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, kind: Configuration, whitelist: [{ key: a, effect: Never }] } }\n`,
      /configuration.whitelist\[0\].effect/,
    ],
    [
      'a missing file',
      `${head}- { name: EventRateLimit, path: none.yaml }\n`,
      /^cannot open \S+none\.yaml: there is no such file or folder$/,
    ],
    [
      'a relative kubeconfig',
      `${head}- { name: ValidatingAdmissionWebhook, configuration: { apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: x } }\n`,
      /kubeConfigFile: must be an absolute file path/,
    ],
    [
      'a missing kubeconfig',
      `${head}- { name: ImagePolicyWebhook, configuration: { imagePolicy: { kubeConfigFile: /none/config } } }\n`,
      /cannot open \/none\/config: there is no such file or folder/,
    ],
  ])('refuses %s', async (_, text, problem) => {
    await expect(read(text)).rejects.toThrow(problem);
  });

  it('reports all problems at once', async () => {
    const wrong = `${head}- { name: EventRateLimit, configuration: { apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: [{ type: X, qps: 0, burst: 1 }] } }\n- name: None\n`;
    await expect(read(wrong)).rejects.toThrow(/limits\[0\].type: .*\n.*limits\[0\].qps: must be positive\n.*"None"/s);
  });
});

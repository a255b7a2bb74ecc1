import type { GroupResource } from '#apimachinery/meta/types';
import { exceptionGroup, exceptionKinds } from '#apiserver/plugins/policy/exception-group';

/** Properties of the Deployment of a webhook server. */
export interface DeploymentOptions {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  /** Text of the ServerConfiguration. */
  readonly configuration: string;
  /** Resources that the plugins follow. */
  readonly followed: readonly GroupResource[];
}

export const containerPort = 9443;
/** Below the folder of the image's packages, because a configuration file's packages are resolved from its own folder upwards. */
const configurationFolder = '/app/configuration';
const configurationFile = 'kubenest.yaml';
const shutdownSeconds = 10;

/** Returns the objects that run a webhook server with several replicas: all but the webhook configurations. */
export function deploymentObjects(options: DeploymentOptions): object[] {
  const { name, namespace } = options;
  const labels = labelsOf(name);
  const metadata = { name, namespace, labels };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    ...accessObjects(options),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [configurationFile]: options.configuration } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ name: 'https', port: 443, targetPort: 'https', protocol: 'TCP' }] },
    },
    deployment(options),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { minAvailable: options.replicas > 1 ? options.replicas - 1 : 0, selector: { matchLabels: labels } },
    },
  ];
}

export function labelsOf(name: string): Record<string, string> {
  return { 'app.kubernetes.io/name': name };
}

function deployment({ name, namespace, image, replicas }: DeploymentOptions): object {
  const labels = labelsOf(name);
  const probe = (path: string): object => ({ httpGet: { path, port: 'https', scheme: 'HTTPS' }, periodSeconds: 5 });
  const spread = { maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: labels } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          terminationGracePeriodSeconds: shutdownSeconds + 35,
          topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
            ...spread,
            topologyKey,
          })),
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'webhook',
              image,
              args: [
                'webhook',
                `--config=${configurationFolder}/${configurationFile}`,
                `--name=${name}`,
                `--namespace=${namespace}`,
                `--port=${containerPort}`,
                `--shutdown-delay=${shutdownSeconds}`,
              ],
              ports: [{ name: 'https', containerPort, protocol: 'TCP' }],
              startupProbe: { ...probe('/healthz'), failureThreshold: 30 },
              readinessProbe: probe('/readyz'),
              livenessProbe: probe('/livez'),
              resources: { requests: { cpu: '100m', memory: '256Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              volumeMounts: [{ name: 'configuration', mountPath: configurationFolder, readOnly: true }],
            },
          ],
          volumes: [{ name: 'configuration', configMap: { name } }],
        },
      },
    },
  };
}

const exceptions = exceptionKinds.map(({ resource }) => resource);
/** Follows exceptions, and writes their uses and expiries. */
const exceptionAccess: readonly object[] = [
  { apiGroups: [exceptionGroup.group], resources: exceptions, verbs: ['list', 'watch'] },
  { apiGroups: [exceptionGroup.group], resources: exceptions.map((resource) => `${resource}/status`), verbs: ['get', 'update'] },
];

/** Returns the roles of the server: what its plugins follow, exceptions, its certificates, and the `caBundle` of its webhooks. */
function accessObjects({ name, namespace, followed }: DeploymentOptions): object[] {
  const labels = labelsOf(name);
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const rbac = 'rbac.authorization.k8s.io';
  const binding = (kind: 'Role' | 'ClusterRole', role: string, of: string, where: object = {}): object => ({
    apiVersion: `${rbac}/v1`,
    kind: kind === 'Role' ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: { name: of, ...where, labels },
    roleRef: { apiGroup: rbac, kind, name: role },
    subjects,
  });
  const secret = { apiGroups: [''], resources: ['secrets'] };
  const certificates = `${name}-certificates`;
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name, labels },
      rules: [
        ...followedRules(followed),
        ...exceptionAccess,
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
          resourceNames: [name],
          verbs: ['get', 'update'],
        },
      ],
    },
    binding('ClusterRole', name, name),
    // TokenReviews and SubjectAccessReviews, for the debugging paths and for plugins that call the authorizer.
    binding('ClusterRole', 'system:auth-delegator', `${name}-auth-delegator`),
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name, namespace, labels },
      rules: [
        { ...secret, verbs: ['create'] },
        { ...secret, resourceNames: [certificates], verbs: ['get', 'list', 'watch', 'update'] },
      ],
    },
    binding('Role', name, name, { namespace }),
  ];
}

/** Returns one rule for each group of followed resources. */
function followedRules(followed: readonly GroupResource[]): object[] {
  const groups = Map.groupBy(followed, ({ group }) => group);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, resources]) => ({
      apiGroups: [group],
      resources: resources.map(({ resource }) => resource).sort(),
      verbs: ['get', 'list', 'watch'],
    }));
}

/** Plugins that record a verdict for each of their policies that applies. If they record none, no policy applies. */
const withPolicies: ReadonlySet<string> = new Set(['ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook', 'PodSecurity']);

/** Plugin that calls other servers; a scan runs it only on request. */
export const webhookPlugin = 'ValidatingAdmissionWebhook';

/**
 * Plugins that judge a request rather than its object, so that their verdict on a stored object has no meaning or their call has an effect:
 *
 * | plugin                                                     | reason                                                     |
 * | ---------------------------------------------------------- | ---------------------------------------------------------- |
 * | ImagePolicyWebhook                                         | it calls another server                                    |
 * | ResourceQuota, EventRateLimit                              | they count requests                                        |
 * | NodeRestriction, OwnerReferencesPermissionEnforcement,     |                                                            |
 * | PodSecurityPolicy, CertificateApproval, CertificateSigning | they depend on the user's permissions                      |
 * | Priority, ServiceAccount, NamespaceExists,                 |                                                            |
 * | PodGroupWorkloadExists                                     | they depend on the order of writes                         |
 * | JobValidation, NodeDeclaredFeatureValidator,               |                                                            |
 * | PersistentVolumeClaimResize, PodResizeValidator            | they compare the old and the new object                    |
 * | AlwaysAdmit, AlwaysDeny                                    | they have one answer to every request                      |
 */
const ofRequests: ReadonlySet<string> = new Set([
  'ImagePolicyWebhook',
  'ResourceQuota',
  'EventRateLimit',
  'NodeRestriction',
  'OwnerReferencesPermissionEnforcement',
  'PodSecurityPolicy',
  'CertificateApproval',
  'CertificateSigning',
  'Priority',
  'ServiceAccount',
  'NamespaceExists',
  'PodGroupWorkloadExists',
  'JobValidation',
  'NodeDeclaredFeatureValidator',
  'PersistentVolumeClaimResize',
  'PodResizeValidator',
  'AlwaysAdmit',
  'AlwaysDeny',
]);

/** True if a scan of stored objects calls the plugin. `webhooks`: true if the scan may call webhooks. */
export function isScanned(plugin: string, webhooks: boolean): boolean {
  return plugin === webhookPlugin ? webhooks : !ofRequests.has(plugin);
}

/** True if the plugin records the verdicts of its policies itself. */
export function recordsPolicies(plugin: string): boolean {
  return withPolicies.has(plugin);
}

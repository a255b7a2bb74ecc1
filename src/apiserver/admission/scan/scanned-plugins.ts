/** Plugins that record a verdict for each of their policies that applies. If they record none, no policy applies. */
const withPolicies: ReadonlySet<string> = new Set(['ValidatingAdmissionPolicy', 'PodSecurity']);

/**
 * Plugins that judge a request rather than its object, so that their verdict on a stored object has no meaning or their call has an effect:
 *
 * | plugin                                                     | reason                                                     |
 * | ---------------------------------------------------------- | ---------------------------------------------------------- |
 * | ValidatingAdmissionWebhook, ImagePolicyWebhook             | they call other servers                                    |
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
  'ValidatingAdmissionWebhook',
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

/** True if a scan of stored objects calls the plugin. */
export function isScanned(plugin: string): boolean {
  return !ofRequests.has(plugin);
}

/** True if the plugin records the verdicts of its policies itself. */
export function recordsPolicies(plugin: string): boolean {
  return withPolicies.has(plugin);
}

/** The built-in resources by group, in all versions. Written by `npm run generate`; do not edit. */
export interface BuiltInResources {
  '': 'bindings' | 'componentstatuses' | 'configmaps' | 'endpoints' | 'events' | 'limitranges' | 'namespaces' | 'nodes' | 'persistentvolumeclaims' | 'persistentvolumes' | 'pods' | 'podtemplates' | 'replicationcontrollers' | 'resourcequotas' | 'secrets' | 'serviceaccounts' | 'services';
  'admissionregistration.k8s.io': 'mutatingadmissionpolicies' | 'mutatingadmissionpolicybindings' | 'mutatingwebhookconfigurations' | 'validatingadmissionpolicies' | 'validatingadmissionpolicybindings' | 'validatingwebhookconfigurations';
  'apiextensions.k8s.io': 'customresourcedefinitions';
  'apiregistration.k8s.io': 'apiservices';
  'apps': 'controllerrevisions' | 'daemonsets' | 'deployments' | 'replicasets' | 'statefulsets';
  'authentication.k8s.io': 'selfsubjectreviews' | 'tokenreviews';
  'authorization.k8s.io': 'localsubjectaccessreviews' | 'selfsubjectaccessreviews' | 'selfsubjectrulesreviews' | 'subjectaccessreviews';
  'autoscaling': 'horizontalpodautoscalers';
  'batch': 'cronjobs' | 'jobs';
  'certificates.k8s.io': 'certificatesigningrequests' | 'clustertrustbundles' | 'podcertificaterequests';
  'coordination.k8s.io': 'leasecandidates' | 'leases';
  'discovery.k8s.io': 'endpointslices';
  'events.k8s.io': 'events';
  'flowcontrol.apiserver.k8s.io': 'flowschemas' | 'prioritylevelconfigurations';
  'internal.apiserver.k8s.io': 'storageversions';
  'networking.k8s.io': 'ingressclasses' | 'ingresses' | 'ipaddresses' | 'networkpolicies' | 'servicecidrs';
  'node.k8s.io': 'runtimeclasses';
  'policy': 'poddisruptionbudgets';
  'rbac.authorization.k8s.io': 'clusterrolebindings' | 'clusterroles' | 'rolebindings' | 'roles';
  'resource.k8s.io': 'deviceclasses' | 'devicetaintrules' | 'resourceclaims' | 'resourceclaimtemplates' | 'resourcepoolstatusrequests' | 'resourceslices';
  'scheduling.k8s.io': 'podgroups' | 'priorityclasses' | 'workloads';
  'storage.k8s.io': 'csidrivers' | 'csinodes' | 'csistoragecapacities' | 'storageclasses' | 'volumeattachments' | 'volumeattributesclasses';
  'storagemigration.k8s.io': 'storageversionmigrations';
}

/**
 * Names in Go's error messages that the type tables lack: types that are strings, lists or maps (`v1.Protocol`), and embedded structs
 * (`VolumeSource`). Upstream: the types of k8s.io/api, read by reflection.
 */

/** Fields of a struct with a named type: `field type`. */
const namedTypes: Readonly<Record<string, string>> = {
  'admissionregistration_v1.MatchResources': 'matchPolicy v1.MatchPolicyType',
  'admissionregistration_v1.MutatingAdmissionPolicySpec':
    'failurePolicy v1.FailurePolicyType, reinvocationPolicy v1.ReinvocationPolicyType',
  'admissionregistration_v1.MutatingWebhook':
    'failurePolicy v1.FailurePolicyType, matchPolicy v1.MatchPolicyType, reinvocationPolicy v1.ReinvocationPolicyType, ' +
    'sideEffects v1.SideEffectClass',
  'admissionregistration_v1.Mutation': 'patchType v1.PatchType',
  'admissionregistration_v1.NamedRuleWithOperations': 'operations []v1.OperationType, scope v1.ScopeType',
  'admissionregistration_v1.ParamRef': 'parameterNotFoundAction v1.ParameterNotFoundActionType',
  'admissionregistration_v1.RuleWithOperations': 'operations []v1.OperationType, scope v1.ScopeType',
  'admissionregistration_v1.ValidatingAdmissionPolicyBindingSpec': 'validationActions []v1.ValidationAction',
  'admissionregistration_v1.ValidatingAdmissionPolicySpec': 'failurePolicy v1.FailurePolicyType',
  'admissionregistration_v1.ValidatingWebhook':
    'failurePolicy v1.FailurePolicyType, matchPolicy v1.MatchPolicyType, sideEffects v1.SideEffectClass',
  'admissionregistration_v1.Validation': 'reason v1.StatusReason',
  'admissionregistration_v1alpha1.MatchResources': 'matchPolicy v1alpha1.MatchPolicyType',
  'admissionregistration_v1alpha1.MutatingAdmissionPolicySpec':
    'failurePolicy v1alpha1.FailurePolicyType, reinvocationPolicy v1.ReinvocationPolicyType',
  'admissionregistration_v1alpha1.Mutation': 'patchType v1alpha1.PatchType',
  'admissionregistration_v1alpha1.NamedRuleWithOperations': 'operations []v1.OperationType, scope v1.ScopeType',
  'admissionregistration_v1alpha1.ParamRef': 'parameterNotFoundAction v1alpha1.ParameterNotFoundActionType',
  'admissionregistration_v1alpha1.ValidatingAdmissionPolicyBindingSpec': 'validationActions []v1alpha1.ValidationAction',
  'admissionregistration_v1alpha1.ValidatingAdmissionPolicySpec': 'failurePolicy v1alpha1.FailurePolicyType',
  'admissionregistration_v1alpha1.Validation': 'reason v1.StatusReason',
  'admissionregistration_v1beta1.MatchResources': 'matchPolicy v1beta1.MatchPolicyType',
  'admissionregistration_v1beta1.MutatingAdmissionPolicySpec':
    'failurePolicy v1beta1.FailurePolicyType, reinvocationPolicy v1.ReinvocationPolicyType',
  'admissionregistration_v1beta1.MutatingWebhook':
    'failurePolicy v1beta1.FailurePolicyType, matchPolicy v1beta1.MatchPolicyType, reinvocationPolicy v1.ReinvocationPolicyType, ' +
    'sideEffects v1beta1.SideEffectClass',
  'admissionregistration_v1beta1.Mutation': 'patchType v1beta1.PatchType',
  'admissionregistration_v1beta1.NamedRuleWithOperations': 'operations []v1.OperationType, scope v1.ScopeType',
  'admissionregistration_v1beta1.ParamRef': 'parameterNotFoundAction v1beta1.ParameterNotFoundActionType',
  'admissionregistration_v1beta1.ValidatingAdmissionPolicyBindingSpec': 'validationActions []v1beta1.ValidationAction',
  'admissionregistration_v1beta1.ValidatingAdmissionPolicySpec': 'failurePolicy v1beta1.FailurePolicyType',
  'admissionregistration_v1beta1.ValidatingWebhook':
    'failurePolicy v1beta1.FailurePolicyType, matchPolicy v1beta1.MatchPolicyType, sideEffects v1beta1.SideEffectClass',
  'admissionregistration_v1beta1.Validation': 'reason v1.StatusReason',
  'apiextensions_v1.ConversionRequest': 'uid types.UID',
  'apiextensions_v1.ConversionResponse': 'uid types.UID',
  'apiextensions_v1.CustomResourceConversion': 'strategy v1.ConversionStrategyType',
  'apiextensions_v1.CustomResourceDefinitionCondition': 'status v1.ConditionStatus, type v1.CustomResourceDefinitionConditionType',
  'apiextensions_v1.CustomResourceDefinitionSpec': 'scope v1.ResourceScope',
  'apiextensions_v1.JSONSchemaProps':
    '$schema v1.JSONSchemaURL, definitions v1.JSONSchemaDefinitions, dependencies v1.JSONSchemaDependencies, ' +
    'x-kubernetes-validations v1.ValidationRules',
  'apiextensions_v1.ValidationRule': 'reason v1.FieldValueErrorReason',
  'apiregistration_v1.APIServiceCondition': 'status v1.ConditionStatus, type v1.APIServiceConditionType',
  'apiserverinternal_v1alpha1.StorageVersionCondition': 'status v1alpha1.ConditionStatus, type v1alpha1.StorageVersionConditionType',
  'apps_v1.DaemonSetCondition': 'status v1.ConditionStatus, type v1.DaemonSetConditionType',
  'apps_v1.DaemonSetUpdateStrategy': 'type v1.DaemonSetUpdateStrategyType',
  'apps_v1.DeploymentCondition': 'status v1.ConditionStatus, type v1.DeploymentConditionType',
  'apps_v1.DeploymentStrategy': 'type v1.DeploymentStrategyType',
  'apps_v1.ReplicaSetCondition': 'status v1.ConditionStatus, type v1.ReplicaSetConditionType',
  'apps_v1.StatefulSetCondition': 'status v1.ConditionStatus, type v1.StatefulSetConditionType',
  'apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy':
    'whenDeleted v1.PersistentVolumeClaimRetentionPolicyType, whenScaled v1.PersistentVolumeClaimRetentionPolicyType',
  'apps_v1.StatefulSetSpec': 'podManagementPolicy v1.PodManagementPolicyType',
  'apps_v1.StatefulSetUpdateStrategy': 'type v1.StatefulSetUpdateStrategyType',
  'authentication_v1.BoundObjectReference': 'uid types.UID',
  'authentication_v1.UserInfo': 'extra map[string]v1.ExtraValue',
  'authorization_v1.SubjectAccessReviewSpec': 'extra map[string]v1.ExtraValue',
  'autoscaling_v2.ContainerResourceMetricSource': 'name v1.ResourceName',
  'autoscaling_v2.ContainerResourceMetricStatus': 'name v1.ResourceName',
  'autoscaling_v2.HPAScalingPolicy': 'type v2.HPAScalingPolicyType',
  'autoscaling_v2.HPAScalingRules': 'selectPolicy v2.ScalingPolicySelect',
  'autoscaling_v2.HorizontalPodAutoscalerCondition': 'status v1.ConditionStatus, type v2.HorizontalPodAutoscalerConditionType',
  'autoscaling_v2.MetricSpec': 'type v2.MetricSourceType',
  'autoscaling_v2.MetricStatus': 'type v2.MetricSourceType',
  'autoscaling_v2.MetricTarget': 'type v2.MetricTargetType',
  'autoscaling_v2.ResourceMetricSource': 'name v1.ResourceName',
  'autoscaling_v2.ResourceMetricStatus': 'name v1.ResourceName',
  'batch_v1.CronJobSpec': 'concurrencyPolicy v1.ConcurrencyPolicy',
  'batch_v1.JobCondition': 'status v1.ConditionStatus, type v1.JobConditionType',
  'batch_v1.JobSpec': 'completionMode v1.CompletionMode, podReplacementPolicy v1.PodReplacementPolicy',
  'batch_v1.PodFailurePolicyOnExitCodesRequirement': 'operator v1.PodFailurePolicyOnExitCodesOperator',
  'batch_v1.PodFailurePolicyOnPodConditionsPattern': 'status v1.ConditionStatus, type v1.PodConditionType',
  'batch_v1.PodFailurePolicyRule': 'action v1.PodFailurePolicyAction',
  'batch_v1.UncountedTerminatedPods': 'failed []types.UID, succeeded []types.UID',
  'certificates_v1.CertificateSigningRequestCondition': 'status v1.ConditionStatus, type v1.RequestConditionType',
  'certificates_v1.CertificateSigningRequestSpec': 'extra map[string]v1.ExtraValue, usages []v1.KeyUsage',
  'certificates_v1beta1.CertificateSigningRequestCondition': 'status v1.ConditionStatus, type v1beta1.RequestConditionType',
  'certificates_v1beta1.CertificateSigningRequestSpec': 'extra map[string]v1beta1.ExtraValue, usages []v1beta1.KeyUsage',
  'certificates_v1beta1.PodCertificateRequestSpec':
    'nodeName types.NodeName, nodeUID types.UID, podUID types.UID, serviceAccountUID types.UID',
  'coordination_v1.LeaseSpec': 'strategy v1.CoordinatedLeaseStrategy',
  'coordination_v1alpha2.LeaseCandidateSpec': 'strategy v1.CoordinatedLeaseStrategy',
  'coordination_v1beta1.LeaseCandidateSpec': 'strategy v1.CoordinatedLeaseStrategy',
  'coordination_v1beta1.LeaseSpec': 'strategy v1.CoordinatedLeaseStrategy',
  'core_v1.AppArmorProfile': 'type v1.AppArmorProfileType',
  'core_v1.AttachedVolume': 'name v1.UniqueVolumeName',
  'core_v1.AzureDiskVolumeSource': 'cachingMode v1.AzureDataDiskCachingMode, kind v1.AzureDataDiskKind',
  'core_v1.Capabilities': 'add []v1.Capability, drop []v1.Capability',
  'core_v1.ComponentCondition': 'status v1.ConditionStatus, type v1.ComponentConditionType',
  'core_v1.ConfigMapNodeConfigSource': 'uid types.UID',
  'core_v1.Container':
    'imagePullPolicy v1.PullPolicy, restartPolicy v1.ContainerRestartPolicy, terminationMessagePolicy v1.TerminationMessagePolicy',
  'core_v1.ContainerPort': 'protocol v1.Protocol',
  'core_v1.ContainerResizePolicy': 'resourceName v1.ResourceName, restartPolicy v1.ResourceResizeRestartPolicy',
  'core_v1.ContainerRestartRule': 'action v1.ContainerRestartRuleAction',
  'core_v1.ContainerRestartRuleOnExitCodes': 'operator v1.ContainerRestartRuleOnExitCodesOperator',
  'core_v1.ContainerStatus': 'allocatedResources v1.ResourceList, stopSignal v1.Signal',
  'core_v1.EmptyDirVolumeSource': 'medium v1.StorageMedium',
  'core_v1.EndpointPort': 'protocol v1.Protocol',
  'core_v1.EphemeralContainer':
    'imagePullPolicy v1.PullPolicy, restartPolicy v1.ContainerRestartPolicy, terminationMessagePolicy v1.TerminationMessagePolicy',
  'core_v1.HTTPGetAction': 'scheme v1.URIScheme',
  'core_v1.HostPathVolumeSource': 'type v1.HostPathType',
  'core_v1.ImageVolumeSource': 'pullPolicy v1.PullPolicy',
  'core_v1.Lifecycle': 'stopSignal v1.Signal',
  'core_v1.LimitRangeItem':
    'default v1.ResourceList, defaultRequest v1.ResourceList, max v1.ResourceList, maxLimitRequestRatio v1.ResourceList, ' +
    'min v1.ResourceList, type v1.LimitType',
  'core_v1.LoadBalancerIngress': 'ipMode v1.LoadBalancerIPMode',
  'core_v1.ModifyVolumeStatus': 'status v1.PersistentVolumeClaimModifyVolumeStatus',
  'core_v1.NamespaceCondition': 'status v1.ConditionStatus, type v1.NamespaceConditionType',
  'core_v1.NamespaceSpec': 'finalizers []v1.FinalizerName',
  'core_v1.NamespaceStatus': 'phase v1.NamespacePhase',
  'core_v1.NodeAddress': 'type v1.NodeAddressType',
  'core_v1.NodeAllocatableResourceClaimStatus': 'resources map[v1.ResourceName]resource.Quantity',
  'core_v1.NodeCondition': 'status v1.ConditionStatus, type v1.NodeConditionType',
  'core_v1.NodeSelectorRequirement': 'operator v1.NodeSelectorOperator',
  'core_v1.NodeStatus': 'allocatable v1.ResourceList, capacity v1.ResourceList, phase v1.NodePhase, volumesInUse []v1.UniqueVolumeName',
  'core_v1.ObjectReference': 'uid types.UID',
  'core_v1.PersistentVolumeClaimCondition': 'status v1.ConditionStatus, type v1.PersistentVolumeClaimConditionType',
  'core_v1.PersistentVolumeClaimSpec': 'accessModes []v1.PersistentVolumeAccessMode, volumeMode v1.PersistentVolumeMode',
  'core_v1.PersistentVolumeClaimStatus':
    'accessModes []v1.PersistentVolumeAccessMode, allocatedResourceStatuses map[v1.ResourceName]v1.ClaimResourceStatus, ' +
    'allocatedResources v1.ResourceList, capacity v1.ResourceList, phase v1.PersistentVolumeClaimPhase',
  'core_v1.PersistentVolumeSpec':
    'accessModes []v1.PersistentVolumeAccessMode, capacity v1.ResourceList, ' +
    'persistentVolumeReclaimPolicy v1.PersistentVolumeReclaimPolicy, volumeMode v1.PersistentVolumeMode',
  'core_v1.PersistentVolumeStatus': 'phase v1.PersistentVolumePhase',
  'core_v1.PodCondition': 'status v1.ConditionStatus, type v1.PodConditionType',
  'core_v1.PodOS': 'name v1.OSName',
  'core_v1.PodReadinessGate': 'conditionType v1.PodConditionType',
  'core_v1.PodSecurityContext':
    'fsGroupChangePolicy v1.PodFSGroupChangePolicy, seLinuxChangePolicy v1.PodSELinuxChangePolicy, ' +
    'supplementalGroupsPolicy v1.SupplementalGroupsPolicy',
  'core_v1.PodSpec':
    'dnsPolicy v1.DNSPolicy, overhead v1.ResourceList, preemptionPolicy v1.PreemptionPolicy, restartPolicy v1.RestartPolicy',
  'core_v1.PodStatus': 'allocatedResources v1.ResourceList, phase v1.PodPhase, qosClass v1.PodQOSClass, resize v1.PodResizeStatus',
  'core_v1.PortStatus': 'protocol v1.Protocol',
  'core_v1.ReplicationControllerCondition': 'status v1.ConditionStatus, type v1.ReplicationControllerConditionType',
  'core_v1.ResourceHealth': 'health v1.ResourceHealthStatus, resourceID v1.ResourceID',
  'core_v1.ResourceQuotaSpec': 'hard v1.ResourceList, scopes []v1.ResourceQuotaScope',
  'core_v1.ResourceQuotaStatus': 'hard v1.ResourceList, used v1.ResourceList',
  'core_v1.ResourceRequirements': 'limits v1.ResourceList, requests v1.ResourceList',
  'core_v1.ResourceStatus': 'name v1.ResourceName',
  'core_v1.ScopedResourceSelectorRequirement': 'operator v1.ScopeSelectorOperator, scopeName v1.ResourceQuotaScope',
  'core_v1.SeccompProfile': 'type v1.SeccompProfileType',
  'core_v1.Secret': 'type v1.SecretType',
  'core_v1.SecurityContext': 'procMount v1.ProcMountType',
  'core_v1.ServicePort': 'protocol v1.Protocol',
  'core_v1.ServiceSpec':
    'externalTrafficPolicy v1.ServiceExternalTrafficPolicy, internalTrafficPolicy v1.ServiceInternalTrafficPolicy, ' +
    'ipFamilies []v1.IPFamily, ipFamilyPolicy v1.IPFamilyPolicy, sessionAffinity v1.ServiceAffinity, type v1.ServiceType',
  'core_v1.Taint': 'effect v1.TaintEffect',
  'core_v1.Toleration': 'effect v1.TaintEffect, operator v1.TolerationOperator',
  'core_v1.TopologySpreadConstraint':
    'nodeAffinityPolicy v1.NodeInclusionPolicy, nodeTaintsPolicy v1.NodeInclusionPolicy, ' +
    'whenUnsatisfiable v1.UnsatisfiableConstraintAction',
  'core_v1.VolumeMount': 'mountPropagation v1.MountPropagationMode, recursiveReadOnly v1.RecursiveReadOnlyMode',
  'core_v1.VolumeMountStatus': 'recursiveReadOnly v1.RecursiveReadOnlyMode',
  'core_v1.VolumeResourceRequirements': 'limits v1.ResourceList, requests v1.ResourceList',
  'discovery_v1.EndpointPort': 'protocol v1.Protocol',
  'discovery_v1.EndpointSlice': 'addressType v1.AddressType',
  'flowcontrol_v1.FlowDistinguisherMethod': 'type v1.FlowDistinguisherMethodType',
  'flowcontrol_v1.FlowSchemaCondition': 'status v1.ConditionStatus, type v1.FlowSchemaConditionType',
  'flowcontrol_v1.LimitResponse': 'type v1.LimitResponseType',
  'flowcontrol_v1.PriorityLevelConfigurationCondition': 'status v1.ConditionStatus, type v1.PriorityLevelConfigurationConditionType',
  'flowcontrol_v1.PriorityLevelConfigurationSpec': 'type v1.PriorityLevelEnablement',
  'flowcontrol_v1.Subject': 'kind v1.SubjectKind',
  'meta_v1.APIResource': 'verbs v1.Verbs',
  'meta_v1.Condition': 'status v1.ConditionStatus',
  'meta_v1.DeleteOptions': 'propagationPolicy v1.DeletionPropagation',
  'meta_v1.FieldSelectorRequirement': 'operator v1.FieldSelectorOperator',
  'meta_v1.LabelSelectorRequirement': 'operator v1.LabelSelectorOperator',
  'meta_v1.ListOptions': 'resourceVersionMatch v1.ResourceVersionMatch',
  'meta_v1.ManagedFieldsEntry': 'operation v1.ManagedFieldsOperationType',
  'meta_v1.ObjectMeta': 'uid types.UID',
  'meta_v1.OwnerReference': 'uid types.UID',
  'meta_v1.Preconditions': 'uid types.UID',
  'meta_v1.Status': 'reason v1.StatusReason',
  'meta_v1.StatusCause': 'reason v1.CauseType',
  'meta_v1.StatusDetails': 'uid types.UID',
  'networking_v1.HTTPIngressPath': 'pathType v1.PathType',
  'networking_v1.IngressPortStatus': 'protocol v1.Protocol',
  'networking_v1.NetworkPolicyPort': 'protocol v1.Protocol',
  'networking_v1.NetworkPolicySpec': 'policyTypes []v1.PolicyType',
  'networking_v1beta1.HTTPIngressPath': 'pathType v1beta1.PathType',
  'networking_v1beta1.IngressPortStatus': 'protocol v1.Protocol',
  'node_v1.Overhead': 'podFixed v1.ResourceList',
  'policy_v1.PodDisruptionBudgetSpec': 'unhealthyPodEvictionPolicy v1.UnhealthyPodEvictionPolicyType',
  'resource_v1.CapacityRequirements': 'requests map[v1.QualifiedName]resource.Quantity',
  'resource_v1.Device':
    'attributes map[v1.QualifiedName]v1.DeviceAttribute, capacity map[v1.QualifiedName]v1.DeviceCapacity, ' +
    'nodeAllocatableResourceMappings map[v1.ResourceName]v1.NodeAllocatableResourceMapping',
  'resource_v1.DeviceAllocationConfiguration': 'source v1.AllocationConfigSource',
  'resource_v1.DeviceConstraint': 'distinctAttribute v1.FullyQualifiedName, matchAttribute v1.FullyQualifiedName',
  'resource_v1.DeviceRequestAllocationResult': 'consumedCapacity map[v1.QualifiedName]resource.Quantity, shareID types.UID',
  'resource_v1.DeviceSubRequest': 'allocationMode v1.DeviceAllocationMode',
  'resource_v1.DeviceTaint': 'effect v1.DeviceTaintEffect',
  'resource_v1.DeviceToleration': 'effect v1.DeviceTaintEffect, operator v1.DeviceTolerationOperator',
  'resource_v1.ExactDeviceRequest': 'allocationMode v1.DeviceAllocationMode',
  'resource_v1.NodeAllocatableResourceMapping': 'capacityKey v1.QualifiedName',
  'resource_v1.ResourceClaimConsumerReference': 'uid types.UID',
  'resource_v1alpha3.DeviceTaint': 'effect v1alpha3.DeviceTaintEffect',
  'resource_v1beta1.BasicDevice':
    'attributes map[v1beta1.QualifiedName]v1beta1.DeviceAttribute, capacity map[v1beta1.QualifiedName]v1beta1.DeviceCapacity, ' +
    'nodeAllocatableResourceMappings map[v1.ResourceName]v1beta1.NodeAllocatableResourceMapping',
  'resource_v1beta1.CapacityRequirements': 'requests map[v1beta1.QualifiedName]resource.Quantity',
  'resource_v1beta1.DeviceAllocationConfiguration': 'source v1beta1.AllocationConfigSource',
  'resource_v1beta1.DeviceConstraint': 'distinctAttribute v1beta1.FullyQualifiedName, matchAttribute v1beta1.FullyQualifiedName',
  'resource_v1beta1.DeviceRequest': 'allocationMode v1beta1.DeviceAllocationMode',
  'resource_v1beta1.DeviceRequestAllocationResult': 'consumedCapacity map[v1beta1.QualifiedName]resource.Quantity, shareID types.UID',
  'resource_v1beta1.DeviceSubRequest': 'allocationMode v1beta1.DeviceAllocationMode',
  'resource_v1beta1.DeviceTaint': 'effect v1beta1.DeviceTaintEffect',
  'resource_v1beta1.DeviceToleration': 'effect v1beta1.DeviceTaintEffect, operator v1beta1.DeviceTolerationOperator',
  'resource_v1beta1.NodeAllocatableResourceMapping': 'capacityKey v1beta1.QualifiedName',
  'resource_v1beta1.ResourceClaimConsumerReference': 'uid types.UID',
  'resource_v1beta2.CapacityRequirements': 'requests map[v1beta2.QualifiedName]resource.Quantity',
  'resource_v1beta2.Device':
    'attributes map[v1beta2.QualifiedName]v1beta2.DeviceAttribute, capacity map[v1beta2.QualifiedName]v1beta2.DeviceCapacity, ' +
    'nodeAllocatableResourceMappings map[v1.ResourceName]v1beta2.NodeAllocatableResourceMapping',
  'resource_v1beta2.DeviceAllocationConfiguration': 'source v1beta2.AllocationConfigSource',
  'resource_v1beta2.DeviceConstraint': 'distinctAttribute v1beta2.FullyQualifiedName, matchAttribute v1beta2.FullyQualifiedName',
  'resource_v1beta2.DeviceRequestAllocationResult': 'consumedCapacity map[v1beta2.QualifiedName]resource.Quantity, shareID types.UID',
  'resource_v1beta2.DeviceSubRequest': 'allocationMode v1beta2.DeviceAllocationMode',
  'resource_v1beta2.DeviceTaint': 'effect v1beta2.DeviceTaintEffect',
  'resource_v1beta2.DeviceToleration': 'effect v1beta2.DeviceTaintEffect, operator v1beta2.DeviceTolerationOperator',
  'resource_v1beta2.ExactDeviceRequest': 'allocationMode v1beta2.DeviceAllocationMode',
  'resource_v1beta2.NodeAllocatableResourceMapping': 'capacityKey v1beta2.QualifiedName',
  'resource_v1beta2.ResourceClaimConsumerReference': 'uid types.UID',
  'scheduling_v1.PriorityClass': 'preemptionPolicy v1.PreemptionPolicy',
  'scheduling_v1alpha2.PodGroupSpec': 'disruptionMode v1alpha2.DisruptionMode',
  'scheduling_v1alpha2.PodGroupTemplate': 'disruptionMode v1alpha2.DisruptionMode',
  'storage_v1.CSIDriverSpec': 'fsGroupPolicy v1.FSGroupPolicy, volumeLifecycleModes []v1.VolumeLifecycleMode',
  'storage_v1.StorageClass': 'reclaimPolicy v1.PersistentVolumeReclaimPolicy, volumeBindingMode v1.VolumeBindingMode',
  'storage_v1beta1.CSIDriverSpec': 'fsGroupPolicy v1beta1.FSGroupPolicy, volumeLifecycleModes []v1beta1.VolumeLifecycleMode',
  'storage_v1beta1.StorageClass': 'reclaimPolicy v1.PersistentVolumeReclaimPolicy, volumeBindingMode v1beta1.VolumeBindingMode',
};

/** Embedded structs of a struct with their fields: `Embedded field field`. */
const embedded: Readonly<Record<string, string>> = {
  'admissionregistration_v1.NamedRuleWithOperations':
    'RuleWithOperations operations, RuleWithOperations.Rule apiGroups apiVersions resources scope',
  'admissionregistration_v1.RuleWithOperations': 'Rule apiGroups apiVersions resources scope',
  'admissionregistration_v1alpha1.NamedRuleWithOperations':
    'RuleWithOperations operations, RuleWithOperations.Rule apiGroups apiVersions resources scope',
  'admissionregistration_v1beta1.NamedRuleWithOperations':
    'RuleWithOperations operations, RuleWithOperations.Rule apiGroups apiVersions resources scope',
  'core_v1.ConfigMapEnvSource': 'LocalObjectReference name',
  'core_v1.ConfigMapKeySelector': 'LocalObjectReference name',
  'core_v1.ConfigMapProjection': 'LocalObjectReference name',
  'core_v1.ConfigMapVolumeSource': 'LocalObjectReference name',
  'core_v1.EphemeralContainer':
    'EphemeralContainerCommon args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe ' +
    'resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath ' +
    'terminationMessagePolicy tty volumeDevices volumeMounts workingDir',
  'core_v1.PersistentVolumeSpec':
    'PersistentVolumeSource awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk ' +
    'glusterfs hostPath iscsi local nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume',
  'core_v1.Probe': 'ProbeHandler exec grpc httpGet tcpSocket',
  'core_v1.SecretEnvSource': 'LocalObjectReference name',
  'core_v1.SecretKeySelector': 'LocalObjectReference name',
  'core_v1.SecretProjection': 'LocalObjectReference name',
  'core_v1.Volume':
    'VolumeSource awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir ephemeral fc flexVolume ' +
    'flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs persistentVolumeClaim photonPersistentDisk portworxVolume ' +
    'projected quobyte rbd scaleIO secret storageos vsphereVolume',
  'networking_v1.IngressRule': 'IngressRuleValue http',
  'networking_v1beta1.IngressRule': 'IngressRuleValue http',
  'resource_v1.DeviceAllocationConfiguration': 'DeviceConfiguration opaque',
  'resource_v1.DeviceClaimConfiguration': 'DeviceConfiguration opaque',
  'resource_v1.DeviceClassConfiguration': 'DeviceConfiguration opaque',
  'resource_v1beta1.DeviceAllocationConfiguration': 'DeviceConfiguration opaque',
  'resource_v1beta1.DeviceClaimConfiguration': 'DeviceConfiguration opaque',
  'resource_v1beta1.DeviceClassConfiguration': 'DeviceConfiguration opaque',
  'resource_v1beta2.DeviceAllocationConfiguration': 'DeviceConfiguration opaque',
  'resource_v1beta2.DeviceClaimConfiguration': 'DeviceConfiguration opaque',
  'resource_v1beta2.DeviceClassConfiguration': 'DeviceConfiguration opaque',
};

/**
 * Returns Go's name of a field's type; undefined if it follows from the kind of the type. `type` is a name of the tables:
 * `core_v1.ServicePort`.
 */
export function namedTypeOf(type: string, field: string): string | undefined {
  const entry = namedTypes[type]?.split(', ').find((one) => one.startsWith(`${field} `));
  return entry?.slice(field.length + 1);
}

/** Returns the dotted path of embedded structs from which a field comes, outermost first; undefined for own fields. */
export function embeddedIn(type: string, field: string): string | undefined {
  for (const entry of embedded[type]?.split(', ') ?? []) {
    const [name, ...fields] = entry.split(' ');
    if (fields.includes(field)) return name;
  }
  return undefined;
}

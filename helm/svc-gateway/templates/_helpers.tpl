{{- define "svc-gateway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* Of the gateways; what belongs to something else has it as its beginning. */}}
{{- define "svc-gateway.fullname" -}}
{{- $name := include "svc-gateway.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "svc-gateway.operatorName" -}}
{{ include "svc-gateway.fullname" . }}-operator
{{- end }}

{{- define "svc-gateway.image" -}}
{{- $tag := default (.Chart.AppVersion | replace "+" "_") .Values.image.tag }}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ $tag }}{{ end }}
{{- end }}
{{- end }}

{{- /* An annotation of Pods, by which another image of the same name replaces them; empty: nothing. */}}
{{- define "svc-gateway.imageRevision" -}}
{{- with .Values.image.revision }}gateway.svc.dev/image-revision: {{ . | quote }}{{ end }}
{{- end }}

{{- /* What tells the Pods of a part from all others. In: root, part. */}}
{{- define "svc-gateway.selector" -}}
app.kubernetes.io/name: {{ include "svc-gateway.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- /* In: root, part; labels: more, which give way to those by which objects are found. */}}
{{- define "svc-gateway.labels" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- $own := include "svc-gateway.selector" . | fromYaml }}
{{- $about := dict "helm.sh/chart" $chart "app.kubernetes.io/version" (.root.Chart.AppVersion | replace "+" "_") "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/part-of" "svc-gateway" }}
{{- merge dict $own (default dict .labels) $about (default dict .root.Values.commonLabels) | toYaml }}
{{- end }}

{{- /* Of Pods: nothing that changes with the chart alone, as each change replaces them. In: root, part; labels. */}}
{{- define "svc-gateway.podLabels" -}}
{{- merge (include "svc-gateway.selector" . | fromYaml) (default dict .labels) (default dict .root.Values.commonLabels) | toYaml }}
{{- end }}

{{- /* The metadata of an object. In: root, part, name; namespace (else the release's, `cluster`: none), labels, annotations. */}}
{{- define "svc-gateway.metadata" -}}
metadata:
  name: {{ .name | quote }}
  {{- $namespace := default .root.Release.Namespace .namespace }}
  {{- if ne $namespace "cluster" }}
  namespace: {{ $namespace | quote }}
  {{- end }}
  labels:
    {{- include "svc-gateway.labels" . | nindent 4 }}
  {{- with merge dict (default dict .annotations) (default dict .root.Values.commonAnnotations) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- /* Of a Pod: who it runs as, and where. In: root, part, settings (those of operator or gateway). */}}
{{- define "svc-gateway.placement" -}}
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $.settings $key }}
{{ dict $key . | toYaml }}
{{- end }}
{{- end }}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "svc-gateway.selector" . | fromYaml)) "matchLabelKeys" (list "pod-template-hash") }}
{{- $constraints := list }}
{{- range .settings.topologySpreadConstraints }}
{{- /* A copy: a selector that is given stays as it is, and so do the user's values. */}}
{{- $constraints = append $constraints (hasKey . "labelSelector" | ternary . (merge (deepCopy .) $own)) }}
{{- end }}
{{- with $constraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Of a container: what it runs and what it may. */}}
{{- define "svc-gateway.container" -}}
image: {{ include "svc-gateway.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
terminationMessagePolicy: FallbackToLogsOnError
securityContext:
  {{- toYaml .Values.containerSecurityContext | nindent 2 }}
{{- end }}

{{- /* Which operator it is: for itself, and for its removal. */}}
{{- define "svc-gateway.installationArgs" -}}
- --lease={{ .Values.operator.lease }}
- --webhook-service={{ include "svc-gateway.operatorName" . }}
- --namespaces={{ default (list "all") .Values.watch.namespaces | join "," }}
- --data-plane-namespaces={{ include "svc-gateway.dataPlaneNamespaces" . | fromJsonArray | join "," }}
{{- end }}

{{- /* What compiling a document may take: the same for operator, gateways and sidecars. */}}
{{- define "svc-gateway.documentFlags" -}}
{{- with .Values.documents -}}
- --max-routes={{ int64 .maxRoutes }}
- --compile-seconds={{ int64 .compileSeconds }}
{{- end }}
{{- end }}

{{- /* Where gateways of the shared pool run. */}}
{{- define "svc-gateway.dataPlaneNamespaces" -}}
{{- concat (list .Release.Namespace) .Values.dataPlaneNamespaces | uniq | toJson }}
{{- end }}

{{- /* How many gateways there are at least, as far as the values tell: others may say more than one. */}}
{{- define "svc-gateway.gatewayReplicas" -}}
{{- $gateway := .Values.gateway }}
{{- if $gateway.autoscaling.enabled }}{{ $gateway.autoscaling.minReplicas }}
{{- else if kindIs "invalid" $gateway.replicas }}2
{{- else }}{{ $gateway.replicas }}
{{- end }}
{{- end }}

{{- /* What the Deployment of the gateways says of replicas; empty: nothing, they are somebody else's. A number that Helm alone
       has written stays until somebody has scaled: left out, the API server would take it for 1. Of a number that was
       never written it is not recorded either who scales: no one manages it, and it stays as it is. */}}
{{- define "svc-gateway.writtenReplicas" -}}
{{- $gateway := .Values.gateway }}
{{- if or $gateway.autoscaling.enabled (kindIs "invalid" $gateway.replicas) }}
{{- $deployment := lookup "apps/v1" "Deployment" .Release.Namespace (include "svc-gateway.fullname" .) }}
{{- $owners := list }}
{{- range dig "metadata" "managedFields" list $deployment }}
{{- if hasKey (dig "fieldsV1" "f:spec" dict .) "f:replicas" }}
{{- $owners = append $owners (dig "subresource" "" .) }}
{{- end }}
{{- end }}
{{- if and $owners (not (has "scale" $owners)) }}{{ dig "spec" "replicas" 1 $deployment | int }}{{ end }}
{{- else }}{{ $gateway.replicas }}
{{- end }}
{{- end }}

{{- /* A role bound to the operator; its name tells whose it is. In: root, kind, role, namespace (`cluster`: everywhere); annotations, account. */}}
{{- define "svc-gateway.binding" -}}
{{- $account := default .root.Values.operator.serviceAccount.name .account }}
{{- $name := printf "%s:%s:%s" .role .root.Release.Namespace $account }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ eq .namespace "cluster" | ternary "ClusterRoleBinding" "RoleBinding" }}
{{ include "svc-gateway.metadata" (dict "root" .root "part" "rbac" "name" $name "namespace" .namespace "annotations" .annotations) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .role }}
subjects:
  - kind: ServiceAccount
    name: {{ $account | quote }}
    namespace: {{ .root.Release.Namespace | quote }}
{{- end }}

{{- /* A Job that runs a command of the operator as a hook, with its account. In: root, command, hook, bindings (role → namespace). */}}
{{- define "svc-gateway.removal" -}}
{{- $root := .root }}
{{- $name := printf "%s-%s" (include "svc-gateway.fullname" $root) .command }}
{{- $part := dict "root" $root "part" .command }}
{{- $first := dict "helm.sh/hook" .hook "helm.sh/hook-weight" "-5" "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded,hook-failed" }}
{{- $then := dict "helm.sh/hook" .hook "helm.sh/hook-weight" "0" "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" }}
---
apiVersion: v1
kind: ServiceAccount
{{ include "svc-gateway.metadata" (merge (dict "name" $name "annotations" $first) $part) }}
{{- range $role, $namespace := .bindings }}
{{ include "svc-gateway.binding" (dict "root" $root "kind" "ClusterRole" "role" $role "namespace" $namespace "account" $name "annotations" $first) }}
{{- end }}
---
apiVersion: batch/v1
kind: Job
{{ include "svc-gateway.metadata" (merge (dict "name" $name "annotations" $then) $part) }}
spec:
  backoffLimit: 2
  activeDeadlineSeconds: 240
  template:
    metadata:
      labels:
        {{- include "svc-gateway.podLabels" $part | nindent 8 }}
    spec:
      serviceAccountName: {{ $name }}
      restartPolicy: Never
      {{- include "svc-gateway.placement" (merge (dict "settings" (omit $root.Values.operator "topologySpreadConstraints")) $part) | nindent 6 }}
      containers:
        - name: {{ .command }}
          {{- include "svc-gateway.container" $root | nindent 10 }}
          command: [svc-operator, {{ .command }}]
          args:
            {{- include "svc-gateway.installationArgs" $root | nindent 12 }}
          {{- with $root.Values.operator.extraEnv }}
          env:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          resources:
            {{- toYaml $root.Values.operator.resources | nindent 12 }}
{{- end }}

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
{{- merge dict $own (default dict .labels) $about .root.Values.commonLabels | toYaml }}
{{- end }}

{{- /* Of Pods: nothing that changes with the chart alone, as each change replaces them. In: root, part; labels. */}}
{{- define "svc-gateway.podLabels" -}}
{{- merge (include "svc-gateway.selector" . | fromYaml) (default dict .labels) .root.Values.commonLabels | toYaml }}
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
  {{- with merge dict (default dict .annotations) .root.Values.commonAnnotations }}
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
{{- $constraints = append $constraints (hasKey . "labelSelector" | ternary . (merge dict . $own)) }}
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

{{- /* Where gateways of the shared pool run. */}}
{{- define "svc-gateway.dataPlaneNamespaces" -}}
{{- concat (list .Release.Namespace) .Values.dataPlaneNamespaces | uniq | toJson }}
{{- end }}

{{- define "svc-gateway.gatewayReplicas" -}}
{{- $gateway := .Values.gateway }}
{{- ternary $gateway.autoscaling.minReplicas $gateway.replicas $gateway.autoscaling.enabled }}
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

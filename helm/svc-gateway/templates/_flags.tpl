{{- /* Validates flags, variables and memory of Pods as the programs would, by their own tables (generated/flags.yaml): what they
       refuse is told before a Pod is replaced by one that ends at once. Makes nothing. */}}

{{- /* What a container is told. In: root, program (`gateway`, `operator` or `sidecar`), container, extra: how many of its last
       args are values of `path`, env: the value that its variables come from. */}}
{{- define "svc-gateway.checkContainer" -}}
{{- $tables := .root.Files.Get "generated/flags.yaml" | fromYaml }}
{{- $program := get $tables .program }}
{{- $flags := default dict (eq .program "sidecar" | ternary $tables.gateway $program).flags }}
{{- $values := default dict $program.values }}
{{- $facts := dict "program" $program "flags" $flags "forms" $tables.forms }}
{{- $args := default list .container.args }}
{{- $own := sub (len $args) .extra | int }}
{{- $given := dict }}
{{- range $at, $arg := $args }}
{{- $isExtra := ge $at $own }}
{{- $name := include "svc-gateway.flagName" (dict "flags" $flags "arg" $arg) }}
{{- $path := $isExtra | ternary $.path (get $values $name | default (printf "--%s" $name)) }}
{{- if $isExtra }}
{{- include "svc-gateway.checkKnown" (merge (dict "path" $path "name" $name "arg" $arg) $facts) }}
{{- with get $given $name }}
{{- if eq . "chart" }}
{{- fail (printf "%s: --%s can't be given here: %s" $path $name (get $values $name | default "the chart" | printf "%s sets it")) }}
{{- else if not (dig $name "isList" false $flags) }}
{{- fail (printf "%s: --%s is given twice" $path $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- $_ := set $given $name ($isExtra | ternary "extra" "chart") }}
{{- with get $flags $name }}
{{- $value := contains "=" $arg | ternary (regexReplaceAll "^[^=]*=" $arg "") (default false .isSwitch | ternary "true" "") }}
{{- include "svc-gateway.checkValue" (merge (dict "path" $path "source" ($isExtra | ternary (printf "--%s: " $name) "") "flag" . "value" $value) $facts) }}
{{- end }}
{{- end }}
{{- include "svc-gateway.checkVariables" (merge (dict "given" $given "path" .env "env" .container.env) $facts) }}
{{- $isComplete := not (or .container.envFrom (hasKey $given "config") (eq .program "sidecar")) }}
{{- range $name, $_ := $given }}
{{- range dig $name "needs" list $flags }}
{{- if and $isComplete (not (hasKey $given .)) }}
{{- fail (printf "%s: --%s needs --%s too" $.path $name .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Of the setting: without the `no-` of a switch; empty: it is written as none. In: flags, arg. */}}
{{- define "svc-gateway.flagName" -}}
{{- $name := regexFind "^--[a-z][a-z0-9-]*" .arg | trimPrefix "--" }}
{{- $negated := trimPrefix "no-" $name }}
{{- dig $negated "isSwitch" false .flags | ternary $negated $name }}
{{- end }}

{{- /* Never with the value, which may be a secret. In: path, program, flags, name, arg. */}}
{{- define "svc-gateway.checkKnown" -}}
{{- if not .name }}
{{- fail (printf "%s: write each as --name=value" .path) }}
{{- end }}
{{- with get .program.closed .name }}
{{- fail (printf "%s: --%s can't be given here: %s" $.path $.name .) }}
{{- end }}
{{- if not (hasKey .flags .name) }}
{{- fail (printf "%s: --%s is no flag of %s: see docs/settings.md" .path .name .program.program) }}
{{- end }}
{{- if not (or (contains "=" .arg) (dig .name "isSwitch" false .flags)) }}
{{- fail (printf "%s: --%s has no value: write it as --%s=value" .path .name .name) }}
{{- end }}
{{- end }}

{{- /* In: path, source, flag, forms, value. */}}
{{- define "svc-gateway.checkValue" -}}
{{- $flag := .flag }}
{{- $elements := list .value }}
{{- if $flag.isList }}
{{- $elements = regexSplit "\\s*,\\s*" (trim .value) -1 | compact }}
{{- end }}
{{- range $elements }}
{{- $isGood := or (contains "$(" .) (and (default false $flag.canBeOff) (eq . "off")) }}
{{- if and (not $isGood) $flag.values }}
{{- $isGood = has . $flag.values }}
{{- else if not $isGood }}
{{- $isGood = regexMatch (get $.forms $flag.form) . }}
{{- if and $isGood (hasKey $flag "max") }}
{{- $factor := dict "ms" 0.001 "m" 60.0 "h" 3600.0 }}
{{- $number := mulf (regexFind "^-?[0-9.]+" . | float64) (get $factor (regexFind "[a-z]+$" .) | default 1.0) }}
{{- $isGood = and (ge $number (float64 $flag.min)) (le $number (float64 $flag.max)) }}
{{- end }}
{{- end }}
{{- if not $isGood }}
{{- fail (printf "%s: %s%s is not valid; expected %s" $.path $.source (default false $flag.isSecret | ternary "this" (trunc 80 . | quote)) $flag.expected) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Adds to `given` what they give. In: path, program, flags, forms, given, env. */}}
{{- define "svc-gateway.checkVariables" -}}
{{- $seen := dict }}
{{- range .env }}
{{- if hasKey $seen .name }}
{{- fail (printf "%s: %s is given twice, or the chart sets it" $.path .name) }}
{{- end }}
{{- $_ := set $seen .name true }}
{{- $isServiceLink := regexMatch "_(SERVICE_HOST|SERVICE_PORT(_\\w+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$" .name }}
{{- if and (hasPrefix $.program.envPrefix .name) (not $isServiceLink) }}
{{- $name := trimPrefix $.program.envPrefix .name | lower | replace "_" "-" }}
{{- if not (hasKey $.flags $name) }}
{{- fail (printf "%s: %s is no setting of %s: see docs/settings.md" $.path .name $.program.program) }}
{{- end }}
{{- if or .value .valueFrom }}
{{- $_ := set $.given $name "env" }}
{{- end }}
{{- $source := printf "%s: " .name }}
{{- with .value }}
{{- include "svc-gateway.checkValue" (dict "path" $.path "source" $source "flag" (get $.flags $name) "forms" $.forms "value" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The memory of a container against what its processes need. In: path, limit, processes, env, envPath. */}}
{{- define "svc-gateway.checkMemory" -}}
{{- if .limit }}
{{- $limit := include "svc-gateway.mebibytes" .limit | float64 }}
{{- $least := add (mul 128 .processes) 128 }}
{{- if lt $limit (float64 $least) }}
{{- fail (printf "%s.limits.memory: %v is too little: 128Mi for each process (%d), and 128Mi while a large document is compiled, are %dMi" .path .limit (int .processes) $least) }}
{{- end }}
{{- range .env }}
{{- if and (eq .name "NODE_OPTIONS") .value }}
{{- $heap := regexFind "--max[-_]old[-_]space[-_]size[= ][0-9]+" .value | regexFind "[0-9]+$" | default "0" | int }}
{{- if gt (float64 (mul $heap $.processes 4)) (mulf $limit 3.0) }}
{{- fail (printf "%s: NODE_OPTIONS: a heap of %d MB for each process (%d) is more than three quarters of %s.limits.memory (%v): the rest is for what is outside of it" $.envPath $heap (int $.processes) $.path $.limit) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Of a quantity. */}}
{{- define "svc-gateway.mebibytes" -}}
{{- $text := kindIs "string" . | ternary . (toJson .) }}
{{- $factors := dict "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 }}
{{- $number := regexFind "^[0-9.]+(e[+]?[0-9]+)?" $text | float64 }}
{{- divf (mulf $number (get $factors (regexFind "[A-Za-z]+$" $text) | default 1.0)) 1048576.0 }}
{{- end }}

{{- /* The spec of the Pods of the Deployment that a template makes. In: root, template. */}}
{{- define "svc-gateway.renderedPod" -}}
{{- range include (print .root.Template.BasePath "/" .template) .root | splitList "\n---\n" }}
{{- $object := fromYaml . }}
{{- if eq (get $object "kind" | toString) "Deployment" }}
{{- toYaml $object.spec.template.spec }}
{{- end }}
{{- end }}
{{- end }}

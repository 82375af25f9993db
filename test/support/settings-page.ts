// Writes the text of docs/settings.md from the settings tables of the programs.

import { SETTINGS as GATEWAY } from '../../dataplane/config.ts'
import { SETTINGS as OPERATOR } from '../../operator/config.ts'
import { renderSettingsMarkdown } from '../../telemetry/settings-help.ts'

const HEAD = `# Settings

Generated from the settings tables by \`make golden\`; do not edit.

Every setting is a flag, an environment variable and a key of the YAML file that \`--config\` names (the flag
without its dashes). A flag wins over the variable, the variable over the file, the file over the default.
Flags are written \`--flag value\` or \`--flag=value\`, booleans \`--flag\` or \`--no-flag\`; a list flag may be
repeated. An empty variable counts as not set. \`off\` turns off what has no default. An unknown setting or a
bad value is one line on stderr and exit code 2.
`

export const renderSettingsPage = (): string =>
  [HEAD, renderSettingsMarkdown(GATEWAY), renderSettingsMarkdown(OPERATOR)].join('\n')

// Writes the chart's README.md anew; a test compares it with values.yaml.

import { writeFileSync } from 'node:fs'
import { README_PATH, renderReadme } from './chart-readme.ts'

writeFileSync(README_PATH, renderReadme())

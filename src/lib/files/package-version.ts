import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './package-root.js'

/** The version in package.json, such as 1.2.3. */
export const packageVersion: string = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version

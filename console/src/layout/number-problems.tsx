import { useTranslation } from 'react-i18next'
import type { ConnectionStep } from '../../../src/model/organizations/connection-steps.js'
import { describeStep } from '../i18n/connecting/describe-step.js'
import { STEP_TEXTS } from '../i18n/connecting/pt.js'
import { useFormat } from '../shared/format.js'

/** What steps have found, as sentences. */
export default function NumberProblems({ steps }: { steps: readonly ConnectionStep[] }) {
  const { i18n } = useTranslation()
  const format = useFormat()
  const texts = i18n.language === 'pt' ? STEP_TEXTS : null
  return steps.map((step) => `${describeStep(texts, step, format.dateTime).sentence}.`).join(' ')
}

import { Group, Radio, Skeleton } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { hiddenLabel } from '../../../../shared/hidden-label.js'
import type { Draft } from '../draft.js'
import { Section } from '../section.js'

const StartTimePicker = lazy(() => import('./start-time-picker.js'))

/** Selects when the broadcast starts. */
export function WhenSection({ form }: { form: UseFormReturnType<Draft> }) {
  const { t } = useTranslation('broadcasts')
  const { isLater } = form.values
  return (
    <Section title={t('compose.when')}>
      <Radio.Group
        {...hiddenLabel(t('compose.when'))}
        value={isLater ? 'later' : 'now'}
        onChange={(when) => form.setFieldValue('isLater', when === 'later')}
      >
        <Group gap="lg">
          <Radio value="now" label={t('compose.now')} />
          <Radio value="later" label={t('compose.later')} />
        </Group>
      </Radio.Group>
      {isLater && (
        <Suspense fallback={<Skeleton h={80} />}>
          <StartTimePicker
            value={form.values.at}
            error={form.errors.at}
            onChange={(at) => form.setFieldValue('at', at)}
          />
        </Suspense>
      )}
    </Section>
  )
}

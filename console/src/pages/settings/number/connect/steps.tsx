import { Anchor, Box, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconQuestionMark, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { describeStep } from '../../../../i18n/connecting/describe-step.js'
import { STEP_TEXTS } from '../../../../i18n/connecting/pt.js'
import { useFormat } from '../../../../shared/format.js'
import type { ConnectionStep, StepState } from '../../types.js'

const LOOKS: Record<StepState, { color: string; Icon: typeof IconCheck }> = {
  ok: { color: 'teal.8', Icon: IconCheck },
  warning: { color: 'orange.8', Icon: IconAlertTriangle },
  failed: { color: 'red.8', Icon: IconX },
  choose: { color: 'blue.8', Icon: IconQuestionMark },
}

/** What each step has found, what to do, and where. */
export function Steps({ steps }: { steps: readonly ConnectionStep[] }) {
  return (
    <Stack component="ul" gap="sm" p={0} m={0}>
      {steps.map((step) => (
        <Step key={step.reason} step={step} />
      ))}
    </Stack>
  )
}

function Step({ step }: { step: ConnectionStep }) {
  const { t, i18n } = useTranslation('settings')
  const format = useFormat()
  const { color, Icon } = LOOKS[step.state]
  const texts = i18n.language === 'pt' ? STEP_TEXTS : null
  const { sentence, remedy } = describeStep(texts, step, format.dateTime)
  return (
    <Group component="li" gap="sm" align="flex-start" wrap="nowrap">
      <ThemeIcon size={22} radius="xl" color={color} aria-label={t(`number.connect.states.${step.state}`)} role="img">
        <Icon size={14} aria-hidden />
      </ThemeIcon>
      <Box miw={0}>
        <Text size="sm" fw={600}>
          {t(`number.connect.steps.${step.step}`)}
        </Text>
        <Text size="sm">{sentence}</Text>
        {remedy && (
          <Text size="sm" c="dimmed">
            {remedy}
          </Text>
        )}
        {step.state !== 'ok' && (
          <Group gap="md">
            {step.link && (
              <Anchor href={step.link} target="_blank" rel="noreferrer" size="sm">
                {t('number.connect.where')}
              </Anchor>
            )}
            {step.docs && (
              <Anchor href={`/${step.docs}`} target="_blank" rel="noreferrer" size="sm">
                {t('number.connect.docs')}
              </Anchor>
            )}
          </Group>
        )}
      </Box>
    </Group>
  )
}

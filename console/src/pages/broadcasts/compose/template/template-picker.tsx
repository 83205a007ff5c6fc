import { ActionIcon, Group, Select, Stack, Text, Tooltip } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../../api/client.js'
import { notifyDone, notifyError } from '../../../../shared/problem.js'
import { readForm, type ShownTemplate } from '../../../../shared/templates/template-form.js'
import { TEMPLATES } from '../data.js'
import { keyOf } from '../draft.js'

// Keeps the button beside the field when an error is shown below.
const LABEL_HEIGHT = 24

interface TemplatePickerProps {
  templates: ShownTemplate[]
  value: string
  error: ReactNode
  onChange: (key: string) => void
}

/** Selects an approved template, and can refresh the list. */
export function TemplatePicker({ templates, value, error, onChange }: TemplatePickerProps) {
  const { t } = useTranslation('broadcasts')
  const sync = useSync()
  const byKey = new Map(templates.map((template) => [keyOf(template), template]))
  return (
    <Group align="flex-start" gap="xs" wrap="nowrap">
      <Select
        flex={1}
        label={t('compose.template')}
        placeholder={t('compose.templatePlaceholder')}
        nothingFoundMessage={t('compose.noTemplate')}
        data={templates.map((template) => ({
          value: keyOf(template),
          label: `${template.name} (${template.language})`,
          disabled: !isForBroadcasts(template),
        }))}
        value={value === '' ? null : value}
        onChange={(key) => onChange(key ?? '')}
        renderOption={({ option }) => <Option template={byKey.get(option.value)} />}
        error={error}
        data-path="template"
        allowDeselect={false}
        searchable
        withAsterisk
        maxDropdownHeight={360}
        errorProps={{ role: 'alert' }}
      />
      <Tooltip label={t('compose.sync')}>
        <ActionIcon
          variant="default"
          size={36}
          mt={LABEL_HEIGHT}
          aria-label={t('compose.sync')}
          loading={sync.isPending}
          onClick={() => sync.mutate()}
        >
          <IconRefresh aria-hidden size={18} />
        </ActionIcon>
      </Tooltip>
    </Group>
  )
}

function Option({ template }: { template: ShownTemplate | undefined }) {
  const { t } = useTranslation('broadcasts')
  if (!template) return null
  const { name, language, category } = template
  return (
    <Stack gap={0} miw={0}>
      <Text size="sm" fw={500}>
        {name}
      </Text>
      <Text size="xs" c="dimmed">
        {[language, category === 'MARKETING' ? t('compose.marketing') : category.toLowerCase()].join(' · ')}
      </Text>
      <Text size="xs" lineClamp={2}>
        {readForm(template).body.text}
      </Text>
      {!isForBroadcasts(template) && <Text size="xs">{t('compose.notByBroadcast')}</Text>}
    </Stack>
  )
}

function isForBroadcasts(template: ShownTemplate): boolean {
  return readForm(template).parts.filledBy === 'any_send'
}

function useSync() {
  const { t } = useTranslation('broadcasts')
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => api.post<{ total: number }>('/templates/sync'),
    onSuccess: ({ total }) => {
      notifyDone(t('compose.synced', { count: total }))
      return queries.invalidateQueries({ queryKey: TEMPLATES })
    },
    onError: (error) => notifyError(error),
  })
}

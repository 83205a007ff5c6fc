import { ActionIcon, Button, EmptyState, Menu, Paper, Stack, Table, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import {
  IconCopy,
  IconDots,
  IconLibrary,
  IconPencil,
  IconPlus,
  IconRefresh,
  IconTemplate,
  IconTrash,
} from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { Loading } from '../../layout/loading.js'
import { NoNumber, useHasNumber } from '../../shared/no-number.js'
import { PageFrame } from '../../shared/page-frame.js'
import { LoadProblem } from '../../shared/problem.js'
import { readForm } from '../../shared/templates/template-form.js'
import { useAllTemplates, useDelete, useSync } from './data.js'
import { TemplateQuality, TemplateStatus } from './status.js'
import type { Template } from './types.js'
import { CATEGORIES, known } from './words.js'

/** All templates, by name and language. */
export function TemplateList() {
  const { t } = useTranslation('templates')
  const hasNumber = useHasNumber()
  return (
    <PageFrame title={t('title')} actions={hasNumber && <Actions />}>
      {hasNumber ? <Templates /> : <NoNumber purpose="templates" />}
    </PageFrame>
  )
}

function Actions() {
  const { t } = useTranslation('templates')
  const sync = useSync()
  const icon = { 'aria-hidden': true, size: 18 }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRefresh {...icon} />}
        loading={sync.isPending}
        onClick={() => sync.mutate()}
      >
        {t('sync')}
      </Button>
      <Button variant="default" component={Link} to="/templates/library" leftSection={<IconLibrary {...icon} />}>
        {t('library')}
      </Button>
      <Button component={Link} to="/templates/new" leftSection={<IconPlus {...icon} />}>
        {t('new')}
      </Button>
    </>
  )
}

function Templates() {
  const { t } = useTranslation('templates')
  const { data, error, refetch } = useAllTemplates()
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  if (data.length === 0) {
    return (
      <EmptyState
        icon={<IconTemplate aria-hidden />}
        title={t('empty.title')}
        description={t('empty.hint')}
        variant="light"
        py={80}
      />
    )
  }
  return (
    <Paper withBorder>
      <Table verticalSpacing="sm" horizontalSpacing="md">
        <Table.Caption hidden>{t('title')}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('columns.name')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('columns.status')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('columns.quality')}</Table.Th>
            <Table.Th visibleFrom="md">{t('columns.text')}</Table.Th>
            <Table.Th aria-label={t('columns.actions')} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.map((template) => (
            <Row key={`${template.name} ${template.language}`} template={template} />
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}

function Row({ template }: { template: Template }) {
  const { t } = useTranslation('templates')
  const { name, language, category, quality } = template
  const word = known(CATEGORIES, category)
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {language} · {word ? t(`categories.${word}`) : category}
        </Text>
        <Stack hiddenFrom="sm" gap={4} mt={6}>
          <TemplateStatus template={template} />
          <TemplateQuality quality={quality} />
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <TemplateStatus template={template} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <TemplateQuality quality={quality} />
      </Table.Td>
      <Table.Td visibleFrom="md" maw={360}>
        <Text size="sm" lineClamp={2}>
          {readForm(template).body.text}
        </Text>
      </Table.Td>
      <Table.Td w={60}>
        <RowMenu template={template} />
      </Table.Td>
    </Table.Tr>
  )
}

function RowMenu({ template }: { template: Template }) {
  const { t } = useTranslation('templates')
  const remove = useDelete()
  const { name, language } = template
  const query = new URLSearchParams({ name, language })
  const icon = { 'aria-hidden': true, size: 16 }
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('actions.of', { name, language })}
          loading={remove.isPending}
        >
          <IconDots aria-hidden size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {['APPROVED', 'REJECTED', 'PAUSED'].includes(template.status) && (
          <Menu.Item component={Link} to={`/templates/edit?${query}`} leftSection={<IconPencil {...icon} />}>
            {t('actions.edit')}
          </Menu.Item>
        )}
        <Menu.Item component={Link} to={`/templates/duplicate?${query}`} leftSection={<IconCopy {...icon} />}>
          {t('actions.duplicate')}
        </Menu.Item>
        <Menu.Item
          color="red"
          leftSection={<IconTrash {...icon} />}
          onClick={() =>
            modals.openConfirmModal({
              title: t('remove.title', { name, language }),
              children: t('remove.hint'),
              labels: { confirm: t('actions.delete'), cancel: t('cancel', { ns: 'common' }) },
              confirmProps: { color: 'red' },
              onConfirm: () => remove.mutate(template),
            })
          }
        >
          {t('actions.delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

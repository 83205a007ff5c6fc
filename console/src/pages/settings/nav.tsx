import { NavLink, Select, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { NavLink as RouterLink, useLocation, useNavigate } from 'react-router'
import classes from './page.module.css'
import { SECTIONS } from './sections.js'

/** Navigation between the sections, on wide screens. */
export function SectionNav() {
  const { t } = useTranslation('settings')
  const current = useCurrentSection()
  return (
    <nav className={classes.nav} aria-label={t('sections')}>
      <Text fw={600} px="sm" pb="sm" aria-hidden>
        {t('title')}
      </Text>
      <Stack gap={2}>
        {SECTIONS.map(({ name, icon: Icon }) => (
          <NavLink
            key={name}
            component={RouterLink}
            to={`/settings/${name}`}
            label={t(`${name}.title`)}
            leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
            active={current === name}
            variant="light"
            className={classes.link}
          />
        ))}
      </Stack>
    </nav>
  )
}

/** The same on narrow screens. */
export function SectionSelect() {
  const { t } = useTranslation('settings')
  const navigate = useNavigate()
  return (
    <nav className={classes.select} aria-label={t('sections')}>
      <Select
        aria-label={t('sections')}
        value={useCurrentSection()}
        data={SECTIONS.map(({ name }) => ({ value: name, label: t(`${name}.title`) }))}
        onChange={(name) => name && navigate(`/settings/${name}`)}
        allowDeselect={false}
      />
    </nav>
  )
}

function useCurrentSection(): string {
  return useLocation().pathname.split('/')[2] ?? ''
}

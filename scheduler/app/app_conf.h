/* scheduler/app/app_conf.h: the configuration files of headgate-scheduler, by its flags. Warnings
 * go to the log. Any thread. */
#ifndef SCHEDULER_APP_APP_CONF_H
#define SCHEDULER_APP_APP_CONF_H

struct err;
struct fleet_options;
struct kueue_conf;
struct sched_conf;
struct sched_options;

/* Loads --scheduler-conf, or the built-in configuration, with the settings of flags. The caller
 * owns *ret (conf_destroy). */
int app_conf_load(const struct sched_options *o, struct sched_conf **ret, struct err *err);
/* Loads Kueue's Configuration in YAML; path NULL or "": the built-in one. The caller owns *ret
 * (kueue_conf_destroy). */
int app_conf_quota(const char *path, struct kueue_conf **ret, struct err *err);
/* Fills in what the Configuration says of MultiKueue. Texts are borrowed from it. */
void app_conf_fleet(const struct kueue_conf *c, struct fleet_options *ret);

#endif

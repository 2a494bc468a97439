/* A Configuration of Kueue either is refused with a text, or its lists are within their limits. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "scheduler/workloads/conf/kueue_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_warning(void *ctx UNUSED, const char *text)
{
	assert(text != NULL && text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *conf = NULL;
	struct err err = ERR_INIT;

	if (yaml_parse((struct str){ (const char *)data, size }, &d, NULL) < 0) {
		return 0;
	}
	if (kueue_conf_read_strict(d, on_warning, NULL, &conf, &err) < 0) {
		assert(conf == NULL && err.text[0] != '\0');
	}
	kueue_conf_destroyp(&conf);
	err = (struct err)ERR_INIT;
	if (kueue_conf_read(d, on_warning, NULL, &conf, &err) < 0) {
		assert(conf == NULL && err.text[0] != '\0');
	} else {
		assert(conf != NULL);
	}
	return 0;
}
